"""Tasks, threads and the portal: how clew waits for what may never end."""
