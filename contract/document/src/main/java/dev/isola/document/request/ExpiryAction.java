package dev.isola.document.request;

/** What the engine does with a sandbox when its idle timeout or TTL expires. */
public enum ExpiryAction {
  /** Destroys the sandbox. */
  DESTROY,
  /** Freezes the sandbox in memory if the provider can, otherwise stops it. */
  PAUSE,
  /** Ends the processes and keeps the files; a resume boots the sandbox again. */
  STOP,
  /**
   * Takes a snapshot of the workspace and destroys the sandbox, so that it uses no resources of the
   * provider. A resume creates it again from the snapshot, with the same id.
   */
  SNAPSHOT
}
