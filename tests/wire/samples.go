// SPDX-License-Identifier: Apache-2.0

// Writes objects of every kind with every member filled, as protobuf and as JSON, by the encoders of Kubernetes' own
// clients: what tests of the protobuf reader are compared with. See tests/wire/README.md.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"time"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	autoscaling2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	dra "k8s.io/api/resource/v1"
	draBeta1 "k8s.io/api/resource/v1beta1"
	draBeta2 "k8s.io/api/resource/v1beta2"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var adders = []func(*runtime.Scheme) error{
	core.AddToScheme, apps.AddToScheme, batch.AddToScheme, coordination.AddToScheme, scheduling.AddToScheme,
	policy.AddToScheme, rbac.AddToScheme, storage.AddToScheme, dra.AddToScheme, draBeta1.AddToScheme, draBeta2.AddToScheme,
	networking.AddToScheme, discovery.AddToScheme, events.AddToScheme, admissionregistration.AddToScheme,
	autoscaling.AddToScheme, autoscaling2.AddToScheme, authentication.AddToScheme, authorization.AddToScheme,
	node.AddToScheme, extensions.AddToScheme,
}

// How a member is filled: with something, with nothing, or with pointers to nothing.
const (
	full = iota
	empty
	pointers
)

var fills = []string{"full", "empty", "pointers"}

type filler struct {
	mode  int
	count int
	seen  map[reflect.Type]int
}

func (f *filler) next() int {
	f.count++
	return f.count%100 + 1
}

func (f *filler) special(value reflect.Value) bool {
	n := f.next()
	switch at := value.Addr().Interface().(type) {
	case *resource.Quantity:
		forms := []string{"1500m", "3Gi", "12", "1e3", "0.5", "1000000", "1024Ki"}
		*at = resource.MustParse(forms[n%len(forms)])
		if f.mode != full {
			*at = resource.Quantity{}
		}
	case *intstr.IntOrString:
		*at = intstr.FromInt32(int32(n))
		if n%2 == 0 {
			*at = intstr.FromString(fmt.Sprintf("%d%%", n))
		}
		if f.mode != full {
			*at = intstr.IntOrString{}
		}
	case *meta.Time:
		*at = meta.Unix(1700000000+int64(n), 0)
		if f.mode == empty {
			*at = meta.Time{}
		}
	case *meta.MicroTime:
		*at = meta.NewMicroTime(time.Unix(1700000000+int64(n), int64(n)*1000000))
		if f.mode == empty {
			*at = meta.MicroTime{}
		}
	case *meta.Duration:
		at.Duration = time.Duration(n) * 1500 * time.Millisecond
	case *runtime.RawExtension:
		at.Raw = []byte(fmt.Sprintf(`{"a":[%d,"b"]}`, n))
	case *extensions.JSON:
		at.Raw = []byte(fmt.Sprintf(`["x",%d]`, n))
	case *meta.FieldsV1:
		at.SetRawBytes([]byte(`{"f:a":{}}`))
	case *extensions.JSONSchemaPropsOrBool:
		*at = extensions.JSONSchemaPropsOrBool{Allows: n%2 == 0}
		if n%3 == 0 {
			*at = extensions.JSONSchemaPropsOrBool{Allows: true, Schema: &extensions.JSONSchemaProps{Type: "string"}}
		}
	case *extensions.JSONSchemaPropsOrArray:
		*at = extensions.JSONSchemaPropsOrArray{Schema: &extensions.JSONSchemaProps{Type: "object"}}
		if n%2 == 0 {
			*at = extensions.JSONSchemaPropsOrArray{JSONSchemas: []extensions.JSONSchemaProps{{Type: "string"}, {ID: "b"}}}
		}
	case *extensions.JSONSchemaPropsOrStringArray:
		*at = extensions.JSONSchemaPropsOrStringArray{Property: []string{"a", "b"}}
	default:
		return false
	}
	return true
}

func (f *filler) fill(value reflect.Value) {
	if f.special(value) {
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		f.seen[value.Type()]++
		for i := 0; i < value.NumField(); i++ {
			if value.Type().Field(i).Name != "TypeMeta" && f.seen[value.Type()] < 3 {
				f.fill(value.Field(i))
			}
		}
		f.seen[value.Type()]--
	case reflect.Pointer:
		if f.mode != empty {
			value.Set(reflect.New(value.Type().Elem()))
			f.fill(value.Elem())
		}
	case reflect.Slice:
		if f.mode != full {
			return
		}
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte(fmt.Sprintf("bytes %d", f.next())))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1+f.next()%2, 3))
		for i := 0; i < value.Len(); i++ {
			f.fill(value.Index(i))
		}
	case reflect.Map:
		if f.mode != full {
			return
		}
		value.Set(reflect.MakeMap(value.Type()))
		for _, name := range []string{"a", "b/c"} {
			element := reflect.New(value.Type().Elem()).Elem()
			f.fill(element)
			value.SetMapIndex(reflect.ValueOf(name).Convert(value.Type().Key()), element)
		}
	case reflect.String:
		if f.mode == full {
			value.SetString(fmt.Sprintf("text %d é", f.next()))
		}
	case reflect.Bool:
		value.SetBool(f.mode == full)
	case reflect.Int32, reflect.Int64, reflect.Int:
		if f.mode == full {
			value.SetInt(int64(f.next() - 50))
		}
	case reflect.Float64:
		if f.mode == full {
			value.SetFloat(float64(f.next()) / 8)
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func wanted(kind schema.GroupVersionKind, scheme *runtime.Scheme) bool {
	path := scheme.AllKnownTypes()[kind].PkgPath()
	isMeta := strings.HasSuffix(path, "apis/meta/v1")
	if kind.Kind == "DeleteOptions" {
		return kind.Group == "" || kind.Group == "apps"
	}
	if isMeta || kind.Version == runtime.APIVersionInternal {
		return false
	}
	for _, end := range []string{"Options", "List", "SerializedReference", "RangeAllocation", "ConversionReview"} {
		if strings.HasSuffix(kind.Kind, end) {
			return false
		}
	}
	return true
}

func write(folder string, scheme *runtime.Scheme, kind schema.GroupVersionKind, mode int) {
	object, err := scheme.New(kind)
	check(err)
	f := filler{mode: mode, seen: map[reflect.Type]int{}}
	f.fill(reflect.ValueOf(object).Elem())
	object.GetObjectKind().SetGroupVersionKind(kind)
	asJSON, err := json.Marshal(object)
	check(err)
	var wire bytes.Buffer
	check(protobuf.NewSerializer(scheme, scheme).Encode(object, &wire))
	name := strings.ToLower(fmt.Sprintf("%s-%s-%s-%s", kind.Group, kind.Version, kind.Kind, fills[mode]))
	check(os.WriteFile(filepath.Join(folder, name+".json"), asJSON, 0o644))
	check(os.WriteFile(filepath.Join(folder, name+".pb"), wire.Bytes(), 0o644))
}

func main() {
	log.SetFlags(0)
	scheme := runtime.NewScheme()
	for _, add := range adders {
		check(add(scheme))
	}
	var kinds []schema.GroupVersionKind
	for kind := range scheme.AllKnownTypes() {
		if wanted(kind, scheme) {
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	for _, kind := range kinds {
		for mode := range fills {
			write(os.Args[1], scheme, kind, mode)
		}
	}
	log.Printf("%d kinds", len(kinds))
}
