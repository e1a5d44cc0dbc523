complete -c wt-check-ignore -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-check-ignore -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-check-ignore -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-check-ignore -s z -d 'Items end in NUL and names are raw bytes, on input and output'
complete -c wt-check-ignore -s n -l non-matching -d 'With -v, print the paths that no rule matches too'
complete -c wt-check-ignore -l stdin -d 'Read paths from standard input'
complete -c wt-check-ignore -l batch -d 'Read paths from standard input and answer each at once'
complete -c wt-check-ignore -l require-end -d 'The paths that are read must be closed by an empty item'
complete -c wt-check-ignore -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-check-ignore -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-check-ignore -s v -l verbose -d 'Say more on standard error'
complete -c wt-check-ignore -s h -l help -d 'Print help'
complete -c wt-check-ignore -s V -l version -d 'Print version'
