// Package skills checks skills and runs them.
//
//	skills, skill_runs ──stream──▶ Reactor ──jobs──▶ skill_check, skill_lane, skill_schedule
//	                                                      │
//	                 lane: claims runs of one user ───────┤
//	                 run: definition, input, rights ──────┤──▶ sandbox (a worker child), or a workflow here
//	                 committer: results of many runs in one transaction
//
// A lane is a job that works one user's queue for a time slice, then lets other
// users' lanes come first: River hands out jobs in order, and knows no fairness.
// How many of a user's runs are running is what helix.skill_claims says, over all
// processes; who claims and who ends runs holds the user's row of
// helix.skill_queues, so that a lane which finds no room is always followed by
// one that the end of a run makes.
package skills
