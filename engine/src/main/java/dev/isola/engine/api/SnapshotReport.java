package dev.isola.engine.api;

import dev.isola.snapshot.manifest.Snapshot;
import java.time.Duration;

/**
 * A snapshot and statistics of taking it.
 *
 * @param held how long the commands of the sandbox were frozen
 * @param incremental whether only changes since the previous snapshot were read
 * @param readBytes the bytes of content read from the sandbox
 */
public record SnapshotReport(
    Snapshot snapshot, Duration held, boolean incremental, long readBytes) {}
