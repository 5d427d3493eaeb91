complete --keep-order --exclusive --command chaos --arguments "(COMPLETE=fish chaos -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
