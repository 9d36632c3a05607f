"""When something is recorded: callbacks, the run context, triggers and the loop."""
