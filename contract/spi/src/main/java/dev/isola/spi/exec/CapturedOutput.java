package dev.isola.spi.exec;

import dev.isola.spi.Bytes;

/**
 * The retained output of one channel.
 *
 * @param head the first bytes, up to the limit
 * @param tail the last bytes that are not in {@code head}
 * @param total the exact number of bytes written to the channel
 */
public record CapturedOutput(Bytes head, Bytes tail, long total) {

  /** Returns whether bytes between head and tail were dropped. */
  public boolean truncated() {
    return omitted() > 0;
  }

  public long omitted() {
    return total - head.size() - tail.size();
  }

  /** Decodes the output as UTF-8, with a line that tells how many bytes were dropped, if any. */
  public String text() {
    if (!truncated()) {
      byte[] all = new byte[head.size() + tail.size()];
      head.copyTo(0, all, 0, head.size());
      tail.copyTo(0, all, head.size(), tail.size());
      return Bytes.wrap(all).utf8();
    }
    return head.utf8() + "\n[... " + omitted() + " bytes omitted ...]\n" + tail.utf8();
  }
}
