package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/**
 * Is told what happened, by whoever did it. Called on the way of every command: it never waits,
 * never throws and costs no more than a microsecond. What it takes has few values; an id or a text
 * from a sandbox is none of them.
 *
 * <p>Providers are named as the registry names them, or {@link #NOBODY}.
 */
public interface Recorder {
  /** The provider of what nobody did. */
  String NOBODY = "none";

  /** Throws everything away. */
  Recorder NONE = new NoRecorder();

  /** A sandbox was asked for and made, taken from the pool, or not made. */
  void spawned(String provider, boolean warm, boolean good, long nanos);

  /** Something else was done to a sandbox, or not. */
  void did(Deed deed, String provider, boolean good, long nanos);

  /** A command was started. */
  void started(String provider);

  /** A command has ended. */
  void ended(String provider, Ending how, long nanos);

  /** A file or a tree was moved, or not. */
  void transferred(String provider, Direction direction, boolean good, long nanos);

  void moved(String provider, Cargo cargo, Direction direction, long bytes);

  /**
   * A request over HTTP was answered.
   *
   * @param route its template, never its path
   */
  void answered(String method, String route, int status, long nanos);

  /**
   * A snapshot was taken.
   *
   * @param bytes of the files
   * @param newBytes that the store did not have
   * @param storedBytes that those take
   */
  void kept(String provider, long bytes, long newBytes, long storedBytes);

  /** A caller got an error. */
  void failed(Deed deed, ErrorCode code);
}
