package dev.isola.spi.exec;

/**
 * Receives the output of a command, piece by piece and in order, on the thread that reads it.
 *
 * @param <E> what it may throw, which ends the reading
 */
@FunctionalInterface
public interface OutputReceiver<E extends Exception> {
  void accept(Output output) throws E;
}
