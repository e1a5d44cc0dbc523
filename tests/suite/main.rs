mod rules_git;
