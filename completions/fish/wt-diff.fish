complete -c wt-diff -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-diff -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-diff -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-diff -l max-file-size -d 'Larger files of the workspace are uncaptured [default: the limit A was made with, else as wt-ls-files]' -r
complete -c wt-diff -s z -d 'Items end in NUL and names are raw bytes'
complete -c wt-diff -l name-only -d 'Write paths without letters'
complete -c wt-diff -l stat -d 'Write how many lines each path gained and lost'
complete -c wt-diff -s p -l patch -d 'Write a unified diff'
complete -c wt-diff -l exit-code -d 'End with exit code 1 if anything differs'
complete -c wt-diff -l yes-this-root -d 'Take the workspace even if it is /, the home directory or holds the stores'
complete -c wt-diff -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-diff -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-diff -s v -l verbose -d 'Say more on standard error'
complete -c wt-diff -s h -l help -d 'Print help'
complete -c wt-diff -s V -l version -d 'Print version'
