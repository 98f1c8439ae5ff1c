package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;

/** The content of a file, fetched in parts, so that each request is bounded in size and time. */
final class PagedContent extends InputStream {
  private static final int PART = 4 << 20;

  private final SimpleSandbox sandbox;
  private final String route;
  private long offset;
  private long left;
  private byte[] part = new byte[0];
  private int used;

  /** Fetches the first part, so that the caller learns of an error at once. */
  PagedContent(SimpleSandbox sandbox, String route, long offset, long length) {
    this.sandbox = sandbox;
    this.route = route;
    this.offset = offset;
    this.left = length;
    fetch();
  }

  private void fetch() {
    if (left > 0) {
      int most = (int) Math.min(left, PART);
      String range = route + "&offset=" + offset + "&length=" + most;
      part =
          sandbox.call(
              () ->
                  sandbox
                      .backend()
                      .client()
                      .bytes(
                          BackendCall.getBytes("read", range, most),
                          sandbox.backend().longTimeout()));
      used = 0;
      offset += part.length;
      left = part.length < most ? 0 : left - part.length;
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int from, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (used == part.length) {
      try {
        fetch();
      } catch (SandboxException e) {
        throw new IOException(e.fault().problem(), e);
      }
    }
    if (used == part.length) {
      return -1;
    }
    int count = Math.min(length, part.length - used);
    System.arraycopy(part, used, target, from, count);
    used += count;
    return count;
  }
}
