complete -c wt-authorship -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-authorship -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-authorship -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-authorship -l from -d 'The snapshot to begin with' -r
complete -c wt-authorship -l to -d 'The snapshot at or before which to end [default: HEAD]' -r
complete -c wt-authorship -l explain -d 'Say in words who changed this path, and why that is known' -r
complete -c wt-authorship -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-authorship -l produced -d 'Only the paths that the run produced'
complete -c wt-authorship -l parked -d 'Only the paths that only others changed'
complete -c wt-authorship -l undecided -d 'Only the paths of which nobody can tell'
complete -c wt-authorship -l overlap -d 'Only the paths that the run produced and others may have changed too'
complete -c wt-authorship -l end -d 'Close a list of paths with an empty item'
complete -c wt-authorship -l by-node -d 'Say for every interval which node ran in it'
complete -c wt-authorship -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-authorship -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-authorship -s v -l verbose -d 'Say more on standard error'
complete -c wt-authorship -s h -l help -d 'Print help'
complete -c wt-authorship -s V -l version -d 'Print version'
