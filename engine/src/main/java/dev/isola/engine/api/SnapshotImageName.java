package dev.isola.engine.api;

/** The name of a snapshot as the image of a spec: {@code snapshot:ID}. */
public final class SnapshotImageName {
  public static final String PREFIX = "snapshot:";

  private SnapshotImageName() {}

  /** Returns the image name of a snapshot. */
  public static String of(String snapshot) {
    return PREFIX + snapshot;
  }
}
