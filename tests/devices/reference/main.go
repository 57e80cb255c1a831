// SPDX-License-Identifier: Apache-2.0

// Allocates devices as Kubernetes does: a cluster a line on stdin, an answer a line on stdout.
//
//	{"objects": [...], "node": "n1"}
//	{"ok": true, "results": [[0, "request", "driver", "pool", "device", false, {}]]}
//
// The last two are whether it is a share of the device, and what it takes of its capacities, in thousandths. "gates": "all"
// turns on every gate of dynamic resource allocation; else those are on that Kubernetes 1.36 turns on.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type line struct {
	Objects []json.RawMessage
	Node    string
	Gates   string
}

type answer struct {
	OK      bool    `json:"ok"`
	Results [][]any `json:"results,omitempty"`
	Text    string  `json:"text,omitempty"`
	GaveUp  bool    `json:"gaveUp,omitempty"`
}

// Kubernetes tries all combinations, of which a few cases have more than anybody would wait for. Its scheduler gives up as well.
const patience = 5 * time.Second

type classes map[string]*resourceapi.DeviceClass

func (all classes) List() ([]*resourceapi.DeviceClass, error) {
	var list []*resourceapi.DeviceClass
	for _, class := range all {
		list = append(list, class)
	}
	return list, nil
}

func (all classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, ok := all[name]; ok {
		return class, nil
	}
	return nil, fmt.Errorf("no class %s", name)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var features = structured.Features{AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true,
	DeviceTaints: true, PartitionableDevices: true, PrioritizedList: true}

// As the scheduler does: shares take some of a device, other results have all of it, and admin access takes nothing.
func hold(held *structured.AllocatedState, result *resourceapi.DeviceRequestAllocationResult) {
	id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
	switch {
	case result.AdminAccess != nil && *result.AdminAccess:
	case result.ShareID == nil:
		held.AllocatedDevices.Insert(id)
	default:
		held.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
		if result.ConsumedCapacity != nil {
			held.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
		}
	}
}

func allocate(in line, caches map[bool]*dracel.Cache) answer {
	gates := features
	gates.ListTypeAttributes = in.Gates == "all"
	cache := caches[gates.ListTypeAttributes]
	all := classes{}
	var slices []*resourceapi.ResourceSlice
	var claims []*resourceapi.ResourceClaim
	var node *corev1.Node
	held := structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection()}
	for _, raw := range in.Objects {
		var kind struct{ Kind string }
		must(json.Unmarshal(raw, &kind))
		switch kind.Kind {
		case "DeviceClass":
			var class resourceapi.DeviceClass
			must(json.Unmarshal(raw, &class))
			all[class.Name] = &class
		case "ResourceSlice":
			var slice resourceapi.ResourceSlice
			must(json.Unmarshal(raw, &slice))
			slices = append(slices, &slice)
		case "Node":
			var one corev1.Node
			must(json.Unmarshal(raw, &one))
			if one.Name == in.Node {
				node = &one
			}
		case "ResourceClaim":
			var claim resourceapi.ResourceClaim
			must(json.Unmarshal(raw, &claim))
			if claim.Status.Allocation == nil {
				claims = append(claims, &claim)
				continue
			}
			for i := range claim.Status.Allocation.Devices.Results {
				hold(&held, &claim.Status.Allocation.Devices.Results[i])
			}
		}
	}
	allocator, err := structured.NewAllocator(context.Background(), gates, held, all, slices, cache)
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results, err := allocator.Allocate(ctx, node, claims)
	if errors.Is(err, context.DeadlineExceeded) {
		return answer{Text: err.Error(), GaveUp: true}
	}
	if err != nil {
		return answer{Text: err.Error()}
	}
	if results == nil {
		return answer{}
	}
	out := answer{OK: true, Results: [][]any{}}
	for index, result := range results {
		for _, device := range result.Devices.Results {
			amounts := map[resourceapi.QualifiedName]int64{}
			for name, amount := range device.ConsumedCapacity {
				amounts[name] = amount.MilliValue()
			}
			out.Results = append(out.Results, []any{index, device.Request, device.Driver, device.Pool, device.Device,
				device.ShareID != nil, amounts})
		}
	}
	return out
}

func main() {
	caches := map[bool]*dracel.Cache{}
	for _, all := range []bool{false, true} {
		caches[all] = dracel.NewCache(1000, dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: all})
	}
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		text, err := input.ReadBytes('\n')
		if len(text) > 0 {
			var in line
			must(json.Unmarshal(text, &in))
			must(output.Encode(allocate(in, caches)))
		}
		if err != nil {
			return
		}
	}
}
