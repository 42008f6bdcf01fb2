package portable

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	registry "github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/extension"
)

const commentsHeader = generated + "SET search_path = pg_catalog;\n"

// own are the comments on what only this tier has, and on what differs here.
var own = []extension.Remark{
	{Kind: extension.Routine, Name: "train", Text: "an error: on this server relgrad is SQL and PL/pgSQL only; relgrad " +
		"run --db trains its tables"},
	{Kind: extension.Relation, Name: "schema_version", Text: "how many migrations of relgrad the database has"},
	{Kind: extension.Column, Name: "schema_version.version", Text: "the number of the last one"},
	{Kind: extension.Relation, Name: "compiled", Text: "gradients that relgrad pg compile has compiled, which gradient " +
		"and backward run"},
	{Kind: extension.Column, Name: "compiled.loss", Text: "schema.name of a view, or a query"},
	{Kind: extension.Column, Name: "compiled.param", Text: "the parameter's table"},
	{Kind: extension.Column, Name: "compiled.column", Text: "of the parameter; empty: all"},
	{Kind: extension.Column, Name: "compiled.path", Text: "the search path under which the texts run"},
	{Kind: extension.Column, Name: "compiled.draws", Text: "whether the loss needs a step"},
	{Kind: extension.Column, Name: "compiled.value", Text: "the query of the loss"},
	{Kind: extension.Column, Name: "compiled.gradient", Text: "the query of the gradient"},
	{Kind: extension.Column, Name: "compiled.definitions", Text: "what the texts are made from; they run while it is so"},
	{Kind: extension.Column, Name: "compiled.at", Text: "when they were compiled"},
	{Kind: extension.Column, Name: "compiled.owner", Text: "the role that compiled them"},
}

var function = regexp.MustCompile(`(?m)((?:^-- .*\n)*)^CREATE (?:FUNCTION|AGGREGATE) relgrad\.(impl_\w+)\(`)

// comments is the text of 009_comments.sql. Functions of the migrations in folder that are written by hand have the
// lines above them as their comments, or else what the registry says of the kernel that they are named after.
func comments(folder fs.FS) (string, error) {
	list, err := extension.Remarks()
	if err != nil {
		return "", err
	}
	list = slices.Concat(list, extension.CompiledRemarks(), extension.RunRemarks(), own)
	known := map[string]bool{}
	for _, name := range []string{"001_numbers.sql", "002_chunks.sql", "003_products.sql", "004_draws.sql",
		"005_aggregates.sql", "008_gradients.sql"} {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return "", err
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if known[m[2]] {
				continue
			}
			known[m[2]] = true
			said := strings.TrimSpace(strings.ReplaceAll("\n"+m[1], "\n-- ", " "))
			if said == "" {
				said = named(strings.TrimPrefix(m[2], "impl_"))
			}
			if said == "" {
				return "", fmt.Errorf("%s: there is no comment above %s", name, m[2])
			}
			list = append(list, extension.Remark{Kind: extension.Routine, Name: m[2], Text: said})
		}
	}
	return commentsHeader + extension.Comments(list), nil
}

// named is what the registry says of the kernel of that name; "" where there is none.
func named(kernel string) string {
	for _, d := range registry.All() {
		if d.Name == kernel {
			return d.Doc
		}
	}
	return ""
}
