// SPDX-License-Identifier: Apache-2.0

/* What the next scheduling cycle would do with a draft or other quotas: asked once typing rests. */
import { useEffect, useState } from 'preact/hooks';
import { call, OURS, Refusal } from '../api/client';
import type { Why } from './why';

export interface Preview {
  /** Of a draft alone. */
  outcome?: 'starts' | 'preempts' | 'waits' | 'never';
  /** What stands in the way of a draft that does not start. */
  why?: Why;
  workloads: { workload: string; queue: string; without: { state: string; startedPods?: number }; with: { state: string; startedPods?: number; evictedPods: number; for?: string } }[];
  queues: { queue: string; fairShare: { without: number; with: number }; allocated: { without: number; with: number } }[];
  starts?: { without: number; with: number };
  evictedPods?: { without: number; with: number };
  hidden?: { workloads: number };
}

/** Null until there is one. */
export type Answer = { preview: Preview } | { refusal: Refusal } | null;

const TYPED_MS = 250;
const BUSY_MS = 1000;

/** Null asks nothing. A newer request makes the answer to an older one void. */
export function usePreview(body: object | null): Answer {
  const [answer, setAnswer] = useState<Answer>(null);
  const key = JSON.stringify(body);
  useEffect(() => {
    if (!body) {
      setAnswer(null);
      return undefined;
    }
    const asking = new AbortController();
    let timer = 0;
    const ask = (): void => {
      call<Preview>('POST', `${OURS}/preview`, body, { signal: asking.signal })
        .then((preview) => setAnswer({ preview }))
        .catch((error: unknown) => {
          if (asking.signal.aborted || !(error instanceof Refusal)) return;
          // Others ask as well; it is asked again.
          if (error.status === 429) timer = window.setTimeout(ask, BUSY_MS);
          else setAnswer({ refusal: error });
        });
    };
    timer = window.setTimeout(ask, TYPED_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [key]);
  return answer;
}
