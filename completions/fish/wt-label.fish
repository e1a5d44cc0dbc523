complete -c wt-label -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-label -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-label -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-label -l expect -d 'The label must point to this id; - if it must not exist' -r
complete -c wt-label -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-label -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c wt-label -l create -d 'The label must not exist yet'
complete -c wt-label -l delete -d 'Remove the label'
complete -c wt-label -l resolve -d 'Print the id that HEAD, HEAD~n, an id, a label or the beginning of an id means'
complete -c wt-label -l next -d 'The next label of a numbered family'
complete -c wt-label -l boundary -d 'The label of a boundary'
complete -c wt-label -l list -d 'List labels'
complete -c wt-label -l reflog -d 'List what the journal says of a label, or of all'
complete -c wt-label -l stdin -d 'Read steps from standard input and do all of them or none'
complete -c wt-label -l require-end -d 'The steps must be closed by an empty item'
complete -c wt-label -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-label -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-label -s v -l verbose -d 'Say more on standard error'
complete -c wt-label -s h -l help -d 'Print help'
complete -c wt-label -s V -l version -d 'Print version'
