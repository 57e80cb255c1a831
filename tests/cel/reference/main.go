// SPDX-License-Identifier: Apache-2.0

// Evaluates device selectors as Kubernetes does: a request a line on stdin, an answer a line on stdout.
//
//	{"expression": "...", "device": {"driver": "...", "attributes": {...}, "capacity": {...}}, "lists": false}
//	{"class": "value", "value": true, "cost": 5}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver                   string
	AllowMultipleAllocations *bool
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity
}

type request struct {
	Expression string
	Device     device
	Lists      bool
}

type answer struct {
	Class string  `json:"class"`
	Value *bool   `json:"value,omitempty"`
	Cost  *uint64 `json:"cost,omitempty"`
	Text  string  `json:"text,omitempty"`
}

var classes = []struct{ text, class string }{
	{"cost limit exceeded", "cost"},
	{"no such overload", "overload"},
	{"no such key", "key"},
	{"by zero", "division"},
	{"overflow", "range"},
	{"out of bounds", "range"},
	{"out of range", "range"},
	{"cannot slice", "range"},
	{"invalid substring range", "range"},
	{"must be non-negative", "range"},
	{"exceeds maximum allowed", "range"},
	{"converted to bool", "not bool"},
	{"attribute ", "failed"},
}

func classOf(err error) string {
	for _, row := range classes {
		if strings.Contains(err.Error(), row.text) {
			return row.class
		}
	}
	return "failed"
}

func evaluate(req request) answer {
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: req.Lists})
	compiled := compiler.CompileCELExpression(req.Expression, dracel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return answer{Class: "compile", Text: compiled.Error.Error()}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), dracel.Device(req.Device))
	result := answer{Class: "value"}
	if details != nil {
		result.Cost = details.ActualCost()
	}
	if err != nil {
		result.Class = classOf(err)
		result.Text = err.Error()
	} else {
		result.Value = &matches
	}
	return result
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var req request
		if err := json.Unmarshal(in.Bytes(), &req); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text, _ := json.Marshal(evaluate(req))
		fmt.Fprintln(out, string(text))
	}
}
