// SPDX-License-Identifier: Apache-2.0
import { Component, type ComponentChildren } from 'preact';

/** What fails to draw takes nothing else with it. */
export class Failing extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <section class="panel state" role="alert">
        <h2>This part could not be displayed</h2>
        <p class="dim">The rest of the page works.</p>
        <pre><code>{String(error.stack ?? error)}</code></pre>
        <button type="button" class="button" onClick={() => this.setState({ error: null })}>Try again</button>
      </section>
    );
  }
}
