# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_run_record_global_optspecs
    string join \n json q/quiet v/verbose h/help V/version
end

function __fish_run_record_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_run_record_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_run_record_using_subcommand
    set -l cmd (__fish_run_record_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c run-record -n "__fish_run_record_needs_command" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_needs_command" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_needs_command" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_needs_command" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_needs_command" -s V -l version -d 'Print version'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "create" -d 'Make a run'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "get" -d 'Print the document, or what a JSON pointer names in it'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "list" -d 'List the runs of a store'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "set-status" -d 'Set the status'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "save" -d 'Put a whole document from standard input in place'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "patch" -d 'Set members that change while a run lives'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "checkpoint" -d 'Print or store the checkpoint'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "pause" -d 'Pause for a person'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "fail" -d 'Fail'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "claim-merge" -d 'Claim the merge of the result'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "update-merge" -d 'Write what came of a merge'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "delegate" -d 'Make a worker for a run that failed'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "waits" -d 'Say whether the run or one below it waits for a person'
complete -c run-record -n "__fish_run_record_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-record -n "__fish_run_record_using_subcommand create" -l workflow -d 'The declared workflow' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l inputs -d 'Launch inputs, a JSON object; @FILE reads it from a file, - from standard input' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l file -d 'The source file' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l bot -d 'The bot it is for' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l iterion-version -d 'The build that launches it' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l launch -d 'More members of the document, a JSON object' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l parent -d 'The run that it is a child of' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l parent-node -d 'The node of the parent that waits for it' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l run -d 'Its id [default: one is made]' -r
complete -c run-record -n "__fish_run_record_using_subcommand create" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand create" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand create" -l queued -d 'Let it wait in a queue instead of running'
complete -c run-record -n "__fish_run_record_using_subcommand create" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand create" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand create" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand create" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand get" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand get" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand get" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand get" -l raw -d 'Print a text without quotes'
complete -c run-record -n "__fish_run_record_using_subcommand get" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand get" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand get" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand get" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand list" -l status -d 'Only those in one of these statuses' -r
complete -c run-record -n "__fish_run_record_using_subcommand list" -l parent -d 'Only children of this run' -r
complete -c run-record -n "__fish_run_record_using_subcommand list" -l issue -d 'Only those that this issue triggered' -r
complete -c run-record -n "__fish_run_record_using_subcommand list" -l schedule -d 'Only those that this schedule triggered' -r
complete -c run-record -n "__fish_run_record_using_subcommand list" -l limit -d 'Only the first N' -r
complete -c run-record -n "__fish_run_record_using_subcommand list" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand list" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand list" -l ids -d 'Print ids only'
complete -c run-record -n "__fish_run_record_using_subcommand list" -l newest -d 'The newest first, by creation; what cannot be read comes before all'
complete -c run-record -n "__fish_run_record_using_subcommand list" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand list" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand list" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand list" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l expect -d 'Write only if the status is one of these' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l error -d 'Why, for people' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l code -d 'Why, for machines: the failure code' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l end-reason -d 'Which decision ended it; any word, such as operator, pr_closed, pr_requeued, superseded' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l continuation -d 'Who acts next: redelivery_pending, retry_armed, final' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l force -d 'Also let a status follow that should not, to repair a run by hand; an event tells of it'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l no-event -d 'Append no event'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l while-running -d 'Append the event although an unrelated engine holds the run\'s lock'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand set-status" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand save" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand save" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand save" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand save" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand save" -l force -d 'Also let a status follow that should not, to repair a run by hand; an event tells of it'
complete -c run-record -n "__fish_run_record_using_subcommand save" -l no-event -d 'Append no event'
complete -c run-record -n "__fish_run_record_using_subcommand save" -l while-running -d 'Append the event although an unrelated engine holds the run\'s lock'
complete -c run-record -n "__fish_run_record_using_subcommand save" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand save" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand save" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand save" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l set -d 'Set a member by its rule; @FILE reads the value from a file, - from standard input' -r
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l expect -d 'Write only if the status is one of these' -r
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand patch" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l setters -d 'List the setters instead'
complete -c run-record -n "__fish_run_record_using_subcommand patch" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand patch" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand patch" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand patch" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -f -a "get" -d 'Print it, or what a JSON pointer names in it'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -f -a "save" -d 'Store one from standard input'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and not __fish_seen_subcommand_from get save help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l raw -d 'Print a text without quotes'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l expand -d 'With the bodies of artifacts that were left out'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l paused-node -d 'Print only the node at which the run stands'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -l expect -d 'Write only if the status is one of these' -r
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "get" -d 'Print it, or what a JSON pointer names in it'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "save" -d 'Store one from standard input'
complete -c run-record -n "__fish_run_record_using_subcommand checkpoint; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l checkpoint -d 'The checkpoint, a JSON object; @FILE reads it from a file, - from standard input [default: the stored one]' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l interaction -d 'The interaction that the run waits for [default: the one that the checkpoint names]' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l questions -d 'Its questions, kept in case its file is lost' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l error -d 'Why, for people' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l expect -d 'Write only if the status is one of these' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l force -d 'Also let a status follow that should not, to repair a run by hand; an event tells of it'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l no-event -d 'Append no event'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l while-running -d 'Append the event although an unrelated engine holds the run\'s lock'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand pause" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l queued-attempt -d 'Its delivery is lost that was published at this time: only if it still is queued since then' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l hint -d 'What to do about a failed launch, for the event' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l checkpoint -d 'The checkpoint, a JSON object; @FILE reads it from a file, - from standard input [default: the stored one]' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l expect -d 'Write only if the status is one of these' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l error -d 'Why, for people' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l code -d 'Why, for machines: the failure code' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l end-reason -d 'Which decision ended it; any word, such as operator, pr_closed, pr_requeued, superseded' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l continuation -d 'Who acts next: redelivery_pending, retry_armed, final' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l resumable -d 'It may go on'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l terminal -d 'It has failed for good'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l at-launch -d 'It could not be launched: failed for good with the code LAUNCH_FAILED, and an event run_failed'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l force -d 'Also let a status follow that should not, to repair a run by hand; an event tells of it'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l no-event -d 'Append no event'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l while-running -d 'Append the event although an unrelated engine holds the run\'s lock'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand fail" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -l stale-before -d 'Take a claim over that is older than this time' -r
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand claim-merge" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l expect -d 'Write only if the merge is one of these; an empty one is a merge that nobody has begun' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l token -d 'Write only if the claim has this token, as claim-merge printed it' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l merged-into -d 'The branch that it went into' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l merged-commit -d 'The commit that it made there' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l strategy -d 'squash or merge' -r -f -a "\t''
squash\t''
merge\t''"
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l pending-message -d 'The message that a conflict waits with' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l pending-into -d 'The branch that a conflict waits for' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l expect-revision -d 'Write only if the document has this revision' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand update-merge" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l fingerprint -d 'Names the failure: the same text for the same failure' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l workflow -d 'The declared workflow' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l inputs -d 'Launch inputs, a JSON object; @FILE reads it from a file, - from standard input' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l file -d 'The source file' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l bot -d 'The bot it is for' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l iterion-version -d 'The build that launches it' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l launch -d 'More members of the document, a JSON object' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l dry-run -d 'Only say which run it would be'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l queued -d 'Let it wait in a queue instead of running'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand delegate" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand waits" -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand waits" -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-record -n "__fish_run_record_using_subcommand waits" -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-record -n "__fish_run_record_using_subcommand waits" -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-record -n "__fish_run_record_using_subcommand waits" -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-record -n "__fish_run_record_using_subcommand waits" -s v -l verbose -d 'Say more on standard error'
complete -c run-record -n "__fish_run_record_using_subcommand waits" -s h -l help -d 'Print help'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "create" -d 'Make a run'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "get" -d 'Print the document, or what a JSON pointer names in it'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "list" -d 'List the runs of a store'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "set-status" -d 'Set the status'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "save" -d 'Put a whole document from standard input in place'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "patch" -d 'Set members that change while a run lives'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "checkpoint" -d 'Print or store the checkpoint'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "pause" -d 'Pause for a person'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "fail" -d 'Fail'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "claim-merge" -d 'Claim the merge of the result'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "update-merge" -d 'Write what came of a merge'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "delegate" -d 'Make a worker for a run that failed'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "waits" -d 'Say whether the run or one below it waits for a person'
complete -c run-record -n "__fish_run_record_using_subcommand help; and not __fish_seen_subcommand_from create get list set-status save patch checkpoint pause fail claim-merge update-merge delegate waits help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c run-record -n "__fish_run_record_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "get" -d 'Print it, or what a JSON pointer names in it'
complete -c run-record -n "__fish_run_record_using_subcommand help; and __fish_seen_subcommand_from checkpoint" -f -a "save" -d 'Store one from standard input'
