package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/**
 * Records metrics. Implementations are called on the hot path of every command: they never block,
 * never throw and take at most a microsecond. Arguments become labels and must have few distinct
 * values; ids and text from sandboxes are not allowed.
 *
 * <p>Provider arguments are names from the registry, or {@link #NO_PROVIDER}.
 */
public interface MetricsRecorder {
  /** The provider label of an operation that reached no provider. */
  String NO_PROVIDER = "none";

  /** Discards everything. */
  MetricsRecorder NOOP = new NoopMetricsRecorder();

  /** Records the creation of a sandbox, a claim from the warm pool, or a failure to create one. */
  void recordCreate(String provider, boolean warm, boolean succeeded, long nanos);

  /** Records that a sandbox was created by another provider than the first choice. */
  void recordFallback(String provider);

  /** Records another operation on a sandbox and its outcome. */
  void recordOperation(EngineOperation operation, String provider, boolean succeeded, long nanos);

  /** Records the start of a command. */
  void recordExecutionStart(String provider);

  /** Records the end of a command. */
  void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos);

  /** Records a transfer of a file or tree and its outcome. */
  void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos);

  /** Records a connection of a sandbox to another host, or that it was denied. */
  void recordEgress(String provider, boolean allowed);

  void recordBytes(String provider, ByteCategory category, Direction direction, long bytes);

  /**
   * Records an HTTP request.
   *
   * @param route the route template, never the path
   */
  void recordHttpRequest(String method, String route, int status, long nanos);

  /**
   * Records a snapshot.
   *
   * @param bytes the total size of its files
   * @param newBytes the bytes that the store did not have
   * @param storedBytes the bytes that these occupy in the store
   */
  void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes);

  /** Records an error that was returned to a client. */
  void recordError(EngineOperation operation, ErrorCode code);
}
