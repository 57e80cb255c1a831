// SPDX-License-Identifier: Apache-2.0

// Writes src/local/wire/types_table.inc, the fields of Kubernetes' built-in kinds, from the struct tags and markers of the
// published Go modules:
//
//	go run scripts/local-types.go -version v0.36.3 >src/local/wire/types_table.inc
//
// Only names, numbers and flags are taken over. The result is committed, so that a build needs no Go.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const (
	apiModule        = "k8s.io/api"
	machineryModule  = "k8s.io/apimachinery"
	extensionsModule = "k8s.io/apiextensions-apiserver"
	metaPath         = machineryModule + "/pkg/apis/meta/v1"
	extensionsPath   = extensionsModule + "/pkg/apis/apiextensions/v1"
)

// Packages whose kinds are served or sent, with the kinds that are not taken: options travel in queries, and lists are
// never sent by clients.
var roots = []string{
	"k8s.io/api/core/v1", "k8s.io/api/apps/v1", "k8s.io/api/batch/v1", "k8s.io/api/coordination/v1",
	"k8s.io/api/scheduling/v1", "k8s.io/api/policy/v1", "k8s.io/api/rbac/v1", "k8s.io/api/storage/v1",
	"k8s.io/api/resource/v1", "k8s.io/api/resource/v1beta1", "k8s.io/api/resource/v1beta2", "k8s.io/api/networking/v1",
	"k8s.io/api/discovery/v1", "k8s.io/api/events/v1", "k8s.io/api/admissionregistration/v1", "k8s.io/api/autoscaling/v1",
	"k8s.io/api/autoscaling/v2", "k8s.io/api/authentication/v1", "k8s.io/api/authorization/v1", "k8s.io/api/node/v1",
	extensionsPath,
}
var notTaken = regexp.MustCompile(`Options$|List$|^SerializedReference$|^RangeAllocation$|^ConversionReview$`)
var metaKinds = []string{"DeleteOptions", "Status", "PartialObjectMetadata"}

// Types that have a form of their own in JSON or on the wire.
var special = map[string]string{
	machineryModule + "/pkg/api/resource.Quantity":   "QUANTITY",
	machineryModule + "/pkg/util/intstr.IntOrString": "INT_OR_STRING",
	machineryModule + "/pkg/runtime.RawExtension":    "RAW",
	metaPath + ".Time":                               "TIME",
	metaPath + ".MicroTime":                          "MICRO_TIME",
	metaPath + ".Duration":                           "DURATION",
	metaPath + ".FieldsV1":                           "RAW",
	extensionsPath + ".JSON":                         "RAW",
	extensionsPath + ".JSONSchemaPropsOrBool":        "SCHEMA_OR_BOOL",
	extensionsPath + ".JSONSchemaPropsOrArray":       "SCHEMA_OR_LIST",
	extensionsPath + ".JSONSchemaPropsOrStringArray": "SCHEMA_OR_NAMES",
}

type goPackage struct {
	path    string
	group   string
	id      string // core_v1
	openapi string // io.k8s.api.core.v1
	types   map[string]*goType
}

type goType struct {
	pkg     *goPackage
	name    string
	expr    ast.Expr
	imports map[string]string
	marks   string
	index   int // in the table; -1 while it is not taken
	isKind  bool
	fields  []field
}

type field struct {
	name, kind, goName string
	number             int
	flags              []string
	target             *goType
	listKeys, mergeKey string
}

var (
	folders  = map[string]string{}
	packages = map[string]*goPackage{}
	taken    []*goType
)

func main() {
	version := flag.String("version", "v0.36.3", "version of the modules")
	flag.Parse()
	log.SetFlags(0)
	download(*version)
	for _, path := range roots {
		takeKinds(path, func(name string) bool { return !notTaken.MatchString(name) })
	}
	takeKinds(metaPath, func(name string) bool {
		for _, kind := range metaKinds {
			if kind == name {
				return true
			}
		}
		return false
	})
	write(*version)
}

func download(version string) {
	folder, err := os.MkdirTemp("", "types")
	check(err)
	defer os.RemoveAll(folder)
	check(os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module types\n"), 0o600))
	for _, module := range []string{apiModule, machineryModule, extensionsModule} {
		command := exec.Command("go", "mod", "download", "-json", module+"@"+version)
		command.Dir = folder
		said, err := command.Output()
		check(err)
		var result struct{ Dir string }
		check(json.Unmarshal(said, &result))
		folders[module] = result.Dir
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Reading

func load(path string) *goPackage {
	if found := packages[path]; found != nil {
		return found
	}
	folder := ""
	for module, dir := range folders {
		if strings.HasPrefix(path, module+"/") {
			folder = filepath.Join(dir, strings.TrimPrefix(path, module+"/"))
		}
	}
	if folder == "" {
		return nil
	}
	pkg := &goPackage{path: path, types: map[string]*goType{}}
	packages[path] = pkg
	parts := strings.Split(path, "/")
	last := len(parts) - 1
	pkg.id = parts[last-1] + "_" + parts[last]
	host := strings.Split(parts[0], ".")
	pkg.openapi = host[1] + "." + host[0] + "." + strings.Join(parts[1:], ".")
	parsed, err := parser.ParseDir(token.NewFileSet(), folder, func(file fs.FileInfo) bool {
		return !strings.HasSuffix(file.Name(), "_test.go") && !strings.HasPrefix(file.Name(), "zz_") &&
			file.Name() != "generated.pb.go" && !strings.HasPrefix(file.Name(), "types_swagger")
	}, parser.ParseComments)
	check(err)
	for name, one := range parsed {
		if strings.HasSuffix(name, "_test") {
			continue
		}
		for _, file := range one.Files {
			readFile(pkg, file)
		}
	}
	return pkg
}

func readFile(pkg *goPackage, file *ast.File) {
	imports := map[string]string{}
	for _, one := range file.Imports {
		path, _ := strconv.Unquote(one.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if one.Name != nil {
			name = one.Name.Name
		}
		imports[name] = path
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				marks := text(general.Doc) + text(spec.Doc)
				pkg.types[spec.Name.Name] = &goType{
					pkg: pkg, name: spec.Name.Name, expr: spec.Type, imports: imports, marks: marks, index: -1,
				}
			case *ast.ValueSpec:
				if literal, ok := first(spec.Values).(*ast.BasicLit); ok && spec.Names[0].Name == "GroupName" {
					pkg.group, _ = strconv.Unquote(literal.Value)
				}
			}
		}
	}
}

func first(values []ast.Expr) ast.Expr {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

func text(doc *ast.CommentGroup) string {
	var lines []string
	if doc != nil {
		for _, line := range doc.List {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line.Text, "//")))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func marksOf(doc, mark string) []string {
	var found []string
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(line, "+"+mark+"=") {
			found = append(found, strings.TrimPrefix(line, "+"+mark+"="))
		}
	}
	return found
}

func hasMark(doc, mark, value string) bool {
	for _, one := range marksOf(doc, mark) {
		if one == value {
			return true
		}
	}
	return false
}

// Taking

func takeKinds(path string, wanted func(string) bool) {
	pkg := load(path)
	var names []string
	for name, one := range pkg.types {
		if fields, ok := one.expr.(*ast.StructType); ok && embedsTypeMeta(fields) && ast.IsExported(name) && wanted(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		take(pkg.types[name]).isKind = true
	}
}

func embedsTypeMeta(fields *ast.StructType) bool {
	for _, one := range fields.Fields.List {
		if len(one.Names) == 0 && strings.HasSuffix(typeName(one.Type), "TypeMeta") {
			return true
		}
	}
	return false
}

func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}

func take(one *goType) *goType {
	if one.index >= 0 {
		return one
	}
	one.index = len(taken)
	taken = append(taken, one)
	for _, member := range one.expr.(*ast.StructType).Fields.List {
		if row, ok := readField(one, member); ok {
			one.fields = append(one.fields, row)
		}
	}
	return one
}

func readField(owner *goType, member *ast.Field) (field, bool) {
	if member.Tag == nil {
		return field{}, false
	}
	quoted, _ := strconv.Unquote(member.Tag.Value)
	tag := reflect.StructTag(quoted)
	jsonTag := strings.Split(tag.Get("json"), ",")
	wire := strings.Split(tag.Get("protobuf"), ",")
	if typeName(member.Type) == "TypeMeta" || jsonTag[0] == "-" || tag.Get("protobuf") == "-" || len(wire) < 2 {
		return field{}, false
	}
	number, err := strconv.Atoi(wire[1])
	check(err)
	row := field{name: jsonTag[0], number: number}
	doc := text(member.Doc)
	for _, option := range jsonTag[1:] {
		switch option {
		case "omitempty":
			row.flags = append(row.flags, "E")
		case "omitzero":
			row.flags = append(row.flags, "Z")
		case "inline":
			row.flags = append(row.flags, "I")
		}
	}
	if strings.Contains(doc, "+optional\n") {
		row.flags = append(row.flags, "O")
	}
	resolve(owner, member.Type, &row)
	readMarks(doc, tag, &row)
	return row, true
}

func readMarks(doc string, tag reflect.StructTag, row *field) {
	marks := doc
	if row.target != nil {
		marks += row.target.marks
	}
	isAtomic := hasMark(marks, "structType", "atomic") && !hasMark(doc, "structType", "granular")
	switch {
	case hasMark(doc, "listType", "map"):
		// Each element may have one owner.
		row.flags = append(row.flags, "K")
		row.listKeys = strings.Join(marksOf(doc, "listMapKey"), " ")
		if isAtomic {
			row.flags = append(row.flags, "A")
		}
	case hasMark(doc, "listType", "set"):
		row.flags = append(row.flags, "S")
	case hasMark(doc, "listType", "atomic"), hasMark(doc, "mapType", "atomic"), isAtomic:
		row.flags = append(row.flags, "A")
	}
	for _, strategy := range strings.Split(tag.Get("patchStrategy"), ",") {
		switch strategy {
		case "merge":
			row.flags = append(row.flags, "G")
		case "retainKeys":
			row.flags = append(row.flags, "R")
		case "replace":
			row.flags = append(row.flags, "C")
		}
	}
	row.mergeKey = tag.Get("patchMergeKey")
}

var basic = map[string]string{
	"string": "STRING", "bool": "BOOL", "int32": "INT32", "int64": "INT64", "int": "INT64", "float64": "DOUBLE",
}

// Fills in kind, shape and target.
func resolve(owner *goType, expr ast.Expr, row *field) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		row.flags = append(row.flags, "P")
		resolve(owner, expr.X, row)
	case *ast.ArrayType:
		if name := typeName(expr.Elt); name == "byte" {
			row.kind = "BYTES"
			return
		}
		row.flags = append(row.flags, "L")
		resolve(owner, expr.Elt, row)
	case *ast.MapType:
		row.flags = append(row.flags, "M")
		resolve(owner, expr.Value, row)
	case *ast.Ident:
		if kind := basic[expr.Name]; kind != "" {
			row.kind = kind
			return
		}
		resolveNamed(owner.pkg.types[expr.Name], expr.Name, row)
	case *ast.SelectorExpr:
		pkg := load(owner.imports[typeName(expr.X)])
		if pkg == nil {
			log.Fatalf("%s.%s: no package of %s", owner.pkg.path, owner.name, expr.Sel.Name)
		}
		resolveNamed(pkg.types[expr.Sel.Name], expr.Sel.Name, row)
	default:
		log.Fatalf("%s.%s: no form for %T", owner.pkg.path, owner.name, expr)
	}
}

func resolveNamed(named *goType, name string, row *field) {
	if named == nil {
		log.Fatalf("no type %s", name)
	}
	full := named.pkg.path + "." + named.name
	short := named.pkg.path[strings.LastIndex(named.pkg.path, "/")+1:] + "." + named.name
	if kind := special[full]; kind != "" {
		row.kind = kind
		if strings.HasPrefix(kind, "SCHEMA") {
			take(named.pkg.types["JSONSchemaProps"])
		}
		if kind == "RAW" {
			row.goName = short
		}
		return
	}
	if _, ok := named.expr.(*ast.StructType); ok {
		row.kind, row.target = "", take(named)
		return
	}
	if strings.Contains(named.marks, "+protobuf.nullable=true") {
		row.kind, row.goName = "STRINGS", short
		return
	}
	row.goName = short
	inner := row.goName
	resolve(named, named.expr, row)
	row.goName = inner
}

// Writing

type pool struct {
	order []string
	ids   map[string]string
}

func (p *pool) id(text string) string {
	if id, ok := p.ids[text]; ok {
		return id
	}
	id := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(text, "_")
	if text == "" {
		id = "none"
	}
	for used := true; used; {
		used = false
		for _, other := range p.ids {
			used = used || other == id
		}
		if used {
			id += "_"
		}
	}
	p.ids[text] = id
	p.order = append(p.order, text)
	return id
}

// Lines of at most 118 bytes.
func fill(out *bytes.Buffer, items []string, end string) {
	line := "   "
	for _, item := range items {
		if len(line)+len(item)+1+len(end) > 118 {
			out.WriteString(line + end + "\n")
			line = "   "
		}
		line += " " + item
	}
	out.WriteString(line + "\n")
}

func write(version string) {
	names := &pool{ids: map[string]string{}}
	names.id("")
	rows, types, lists, packageRows, count := tables(names)
	var out bytes.Buffer
	fmt.Fprintf(&out, "/* SPDX-License-Identifier: Apache-2.0 */\n")
	fmt.Fprintf(&out, "/* Written by scripts/local-types.go from the modules of %s. */\n", version)
	out.WriteString("\n#define NAMES(X) \\\n")
	var defined []string
	for _, name := range names.order {
		defined = append(defined, fmt.Sprintf("X(%s, %q)", names.ids[name], name))
	}
	fill(&out, defined, " \\")
	out.WriteString("\n#define DECLARE(id, text) char n_##id[sizeof text];\n#define DEFINE(id, text) text,\n")
	out.WriteString("static const struct names {\n    NAMES(DECLARE)\n} names = {\n    NAMES(DEFINE)\n};\n\n")
	out.WriteString("#define F(name, go, number, flags, type) \\\n")
	out.WriteString("    {offsetof(struct names, n_##name), offsetof(struct names, n_##go), number, type, flags},\n")
	out.WriteString("#define T(name, package, first, count, flags) \\\n")
	out.WriteString("    {offsetof(struct names, n_##name), package, first, count, flags},\n")
	out.WriteString("#define K(row, keys, merge) {row, offsetof(struct names, n_##keys), offsetof(struct names, n_##merge)},\n")
	out.WriteString("#define G(openapi, group, version) \\\n")
	out.WriteString("    {offsetof(struct names, n_##openapi), offsetof(struct names, n_##group), offsetof(struct names, n_##version)},\n\n")
	out.WriteString(flagNames)
	out.WriteString("static const struct type_package packages[] = {\n")
	fill(&out, packageRows, "")
	out.WriteString("};\n\nstatic const struct type_row rows[] = {\n")
	fill(&out, rows, "")
	out.WriteString("};\n\nstatic const struct type types[] = {\n")
	fill(&out, types, "")
	out.WriteString("};\n\nstatic const struct type_list lists[] = {\n")
	fill(&out, lists, "")
	out.WriteString("};\n")
	_, err := os.Stdout.Write(out.Bytes())
	check(err)
	log.Printf("%d types, %d fields, %d names", len(taken), count, len(names.order))
}

const flagNames = `enum {
    P = ROW_POINTER, L = ROW_LIST, M = ROW_MAP, E = ROW_OMIT_EMPTY, Z = ROW_OMIT_ZERO, I = ROW_INLINE,
    O = ROW_OPTIONAL, A = ROW_ATOMIC, S = ROW_SET, H = ROW_KEYED, M_ = ROW_PATCH_MERGE,
    R_ = ROW_PATCH_RETAIN_KEYS, C_ = ROW_PATCH_REPLACE,
};

`

func tables(names *pool) (rows, types, lists, packageRows []string, count int) {
	flagLetters := map[string]string{"K": "H", "G": "M_", "R": "R_", "C": "C_"}
	packageIndex := map[*goPackage]int{}
	for _, one := range taken {
		if _, ok := packageIndex[one.pkg]; !ok {
			packageIndex[one.pkg] = len(packageRows)
			version := one.pkg.path[strings.LastIndex(one.pkg.path, "/")+1:]
			packageRows = append(packageRows, fmt.Sprintf("G(%s, %s, %s)", names.id(one.pkg.openapi),
				names.id(one.pkg.group), names.id(version)))
		}
		start := count
		for _, row := range one.fields {
			letters := []string{}
			for _, letter := range row.flags {
				if other := flagLetters[letter]; other != "" {
					letter = other
				}
				letters = append(letters, letter)
			}
			if len(letters) == 0 {
				letters = []string{"0"}
			}
			kind := "TYPE_" + row.kind
			if row.target != nil {
				kind = fmt.Sprintf("TYPE_MESSAGE + %d", row.target.index)
			}
			rows = append(rows, fmt.Sprintf("F(%s, %s, %d, %s, %s)", names.id(row.name), names.id(row.goName), row.number,
				strings.Join(letters, "|"), kind))
			if row.listKeys != "" || row.mergeKey != "" {
				lists = append(lists, fmt.Sprintf("K(%d, %s, %s)", count, names.id(row.listKeys), names.id(row.mergeKey)))
			}
			count++
		}
		flags := "0"
		if one.isKind {
			flags = "TYPE_IS_KIND"
		}
		types = append(types, fmt.Sprintf("T(%s, %d, %d, %d, %s)", names.id(one.name), packageIndex[one.pkg], start,
			len(one.fields), flags))
	}
	return rows, types, lists, packageRows, count
}
