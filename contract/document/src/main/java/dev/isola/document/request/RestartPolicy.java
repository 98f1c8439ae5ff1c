package dev.isola.document.request;

/** Whether a hosted server is started again after it has exited. */
public enum RestartPolicy {
  ALWAYS,
  /** Only after an exit code other than 0, a signal, or a lost process. */
  ON_FAILURE,
  NEVER
}
