package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/**
 * Is told what happened, by whoever did it. Called on the way of every command: it never waits,
 * never throws and costs no more than a microsecond. What it takes has few values; an id or a text
 * from a sandbox is none of them.
 *
 * <p>Providers are named as the registry names them, or {@link #NO_PROVIDER}.
 */
public interface MetricsRecorder {
  /** The provider of what nobody did. */
  String NO_PROVIDER = "none";

  /** Throws everything away. */
  MetricsRecorder NOOP = new NoopMetricsRecorder();

  /** A sandbox was asked for and made, taken from the pool, or not made. */
  void recordCreate(String provider, boolean warm, boolean good, long nanos);

  /** Something else was done to a sandbox, or not. */
  void recordOperation(EngineOperation deed, String provider, boolean good, long nanos);

  /** A command was started. */
  void recordExecutionStart(String provider);

  /** A command has ended. */
  void recordExecutionEnd(String provider, ExecutionOutcome how, long nanos);

  /** A file or a tree was moved, or not. */
  void recordTransfer(String provider, Direction direction, boolean good, long nanos);

  void recordBytes(String provider, ByteCategory cargo, Direction direction, long bytes);

  /**
   * A request over HTTP was answered.
   *
   * @param route its template, never its path
   */
  void recordHttpRequest(String method, String route, int status, long nanos);

  /**
   * A snapshot was taken.
   *
   * @param bytes of the files
   * @param newBytes that the store did not have
   * @param storedBytes that those take
   */
  void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes);

  /** A caller got an error. */
  void recordError(EngineOperation deed, ErrorCode code);
}
