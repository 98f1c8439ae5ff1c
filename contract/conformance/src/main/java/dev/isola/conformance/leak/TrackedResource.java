package dev.isola.conformance.leak;

/**
 * One thing that bears the mark.
 *
 * @param id tells it from others of its kind, also from a later one of the same name where the
 *     kernel can tell
 * @param words what a person is told
 */
public record TrackedResource(Kind kind, String id, String description) {
  /** What there is to leak. */
  public enum Kind {
    PROCESS,
    CGROUP,
    MOUNT,
    LOOP_DEVICE,
    NETWORK_NAMESPACE,
    NETWORK_INTERFACE,
    UNIX_SOCKET,
    FOLDER,
    /** A descriptor of this JVM that points into the data folder. */
    DESCRIPTOR
  }

  boolean isSameAs(TrackedResource other) {
    return kind == other.kind && id.equals(other.id);
  }
}
