package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CliEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Progress bar of a copy. Shown on terminals only. */
public final class ProgressBar implements AutoCloseable {
  private static final int WIDTH = 30;
  private static final long REDRAW_NANOS = Duration.ofMillis(100).toNanos();

  private final CliEnvironment environment;
  private final boolean visible;
  private final long total;
  private final long startNanos = System.nanoTime();
  private long lastDrawNanos;
  private long done;
  private boolean drawnOnce;

  /**
   * @param total number of bytes; negative if unknown
   */
  ProgressBar(CliEnvironment environment, boolean visible, long total) {
    this.environment = environment;
    this.visible = visible;
    this.total = total;
  }

  synchronized void update(long bytes) {
    done = bytes;
    long now = System.nanoTime();
    if (visible && (!drawnOnce || now - lastDrawNanos >= REDRAW_NANOS)) {
      lastDrawNanos = now;
      drawnOnce = true;
      draw();
    }
  }

  private void draw() {
    write("\r" + line(done, total, Duration.ofNanos(System.nanoTime() - startNanos)) + "\u001b[K");
  }

  public static String line(long done, long total, Duration time) {
    long perSecond = done * 1000 / Math.max(1, time.toMillis());
    String speed = CellFormat.size(done) + "  " + CellFormat.size(perSecond) + "/s";
    if (total <= 0) {
      return speed;
    }
    long whole = Math.max(done, total);
    int filled = (int) (done * WIDTH / whole);
    return "["
        + "#".repeat(filled)
        + "-".repeat(WIDTH - filled)
        + "] "
        + done * 100 / whole
        + "%  "
        + speed;
  }

  private void write(String text) {
    try {
      environment.err().write(text.getBytes(StandardCharsets.UTF_8));
      environment.err().flush();
    } catch (IOException e) {
      // Progress is optional.
    }
  }

  @Override
  public synchronized void close() {
    if (drawnOnce) {
      draw();
      write("\n");
    }
  }
}
