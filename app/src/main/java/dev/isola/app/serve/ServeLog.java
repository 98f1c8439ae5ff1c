package dev.isola.app.serve;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.Console;
import dev.isola.engine.config.LogFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.concurrent.locks.ReentrantLock;

/** Log of the server, on standard error. */
public final class ServeLog implements ServerLog {
  private final OutputStream out;
  private final InstantSource clock;
  private final LogLayout layout;
  private final ReentrantLock lock = new ReentrantLock();

  public ServeLog(OutputStream out, InstantSource clock, LogLayout layout) {
    this.out = out;
    this.clock = clock;
    this.layout = layout;
  }

  /**
   * Opens the log.
   *
   * @param console styles text for standard error
   */
  public static ServeLog open(
      CliEnvironment environment, InstantSource clock, LogFormat format, Console console) {
    boolean text =
        switch (format) {
          case AUTO -> environment.tty().err();
          case TEXT -> true;
          case JSON -> false;
        };
    return new ServeLog(
        environment.err(),
        clock,
        text ? new TextLogLayout(console, ZoneId.systemDefault()) : new JsonLogLayout());
  }

  @Override
  public void info(String sentence) {
    write(layout.message(clock.instant(), "info", sentence));
  }

  @Override
  public void warning(String sentence) {
    write(layout.message(clock.instant(), "warning", sentence));
  }

  @Override
  public void write(Line request) {
    write(layout.request(clock.instant(), request));
  }

  private void write(String line) {
    byte[] text = (line + "\n").getBytes(StandardCharsets.UTF_8);
    lock.lock();
    try {
      out.write(text);
      out.flush();
    } catch (IOException e) {
      // Standard error is closed; keep serving.
    } finally {
      lock.unlock();
    }
  }
}
