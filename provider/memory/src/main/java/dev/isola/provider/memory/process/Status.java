package dev.isola.provider.memory.process;

/**
 * How a simulated process ended.
 *
 * @param signal 0 when it ended by itself
 */
public record Status(int code, int signal) {
  public static Status exited(int code) {
    return new Status(code & 0xff, 0);
  }

  static Status signaled(int signal) {
    return new Status(0, signal);
  }

  /** Returns what a shell shows as {@code $?}. */
  public int shellCode() {
    return signal == 0 ? code : 128 + signal;
  }
}
