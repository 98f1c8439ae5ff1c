package dev.isola.conformance.leak;

/**
 * A resource found by a scan.
 *
 * @param id unique within its kind; where the kernel allows, it differs from a later resource of
 *     the same name
 * @param description the text for reports
 */
public record TrackedResource(Kind kind, String id, String description) {
  /** The kinds of resources that can leak. */
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
