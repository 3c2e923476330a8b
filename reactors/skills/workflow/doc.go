// Package workflow runs composite skills: steps that call tools and other skills,
// one after the other, with what the steps before them gave. The format is
// docs/steps.schema.json, docs/skills-steps.md its guide.
//
// It knows neither sandbox nor database: Tools calls, and OnStep keeps each result
// as it is there, so that a run which was interrupted goes on after the last.
//
// Steps come from strangers. They are checked by Parse, so that what is left to
// fail in Run is the data, and every expression has a budget.
package workflow
