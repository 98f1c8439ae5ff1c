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

  private final CliEnvironment host;
  private final boolean shown;
  private final long total;
  private final long begun = System.nanoTime();
  private long drawn;
  private long done;
  private boolean any;

  /**
   * @param total number of bytes; negative if unknown
   */
  ProgressBar(CliEnvironment host, boolean shown, long total) {
    this.host = host;
    this.shown = shown;
    this.total = total;
  }

  synchronized void update(long bytes) {
    done = bytes;
    long now = System.nanoTime();
    if (shown && (!any || now - drawn >= REDRAW_NANOS)) {
      drawn = now;
      any = true;
      draw();
    }
  }

  private void draw() {
    write("\r" + line(done, total, Duration.ofNanos(System.nanoTime() - begun)) + "\u001b[K");
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
      host.err().write(text.getBytes(StandardCharsets.UTF_8));
      host.err().flush();
    } catch (IOException e) {
      // Progress is optional.
    }
  }

  @Override
  public synchronized void close() {
    if (any) {
      draw();
      write("\n");
    }
  }
}
