package dev.isola.engine.snapshot;

import dev.isola.snapshot.manifest.Snapshot;
import java.time.Duration;

/**
 * A snapshot that was taken, and how.
 *
 * @param held how long the sandbox's commands were held
 * @param incremental whether only what changed since the one before was read
 * @param readBytes of content that were read from the sandbox
 */
public record SnapshotReport(
    Snapshot snapshot, Duration held, boolean incremental, long readBytes) {}
