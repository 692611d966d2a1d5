package main

import (
	"flag"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/campaigns"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
)

func newCampaignCommand() *command.Command {
	f := &searchFlags{endless: true}
	return campaigns.NewCampaign(campaigns.Search{
		Declare:  func(fl *flag.FlagSet, budget time.Duration) { f.declare(fl, budget) },
		Declined: declined, TestFlags: testFlagNames,
		Check: f.check, Build: f.build, List: f.list, Incomplete: f.incomplete,
		Asked: func() campaigns.Asked {
			return campaigns.Asked{Options: f.Options, BuildFlags: f.buildFlags(), WholePackages: f.run == "" && f.skip == "" && f.together}
		},
	})
}
