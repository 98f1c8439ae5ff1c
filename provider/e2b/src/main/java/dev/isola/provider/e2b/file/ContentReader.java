package dev.isola.provider.e2b.file;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.rpc.EnvdClient;
import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.file.ReadRange;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.Optional;

/** Opens the content of files. */
record ContentReader(SandboxContext context, FileErrors errors) {

  /**
   * @param size the size of the file a moment ago; 0 if unknown
   */
  InputStream open(String path, String absolute, ReadRange range, long size) {
    boolean beyond = range.offset() > 0 && range.offset() >= size;
    if (range.length() == 0 || beyond) {
      return InputStream.nullInputStream();
    }
    boolean part = size > 0 && (range.offset() > 0 || range.length() < size);
    long last =
        range.length() > Long.MAX_VALUE - range.offset()
            ? Long.MAX_VALUE - 1
            : range.offset() + range.length() - 1;
    Optional<String> header =
        part
            ? Optional.of("bytes=" + range.offset() + "-" + Math.min(last, size - 1))
            : Optional.empty();
    try {
      HttpResponse<InputStream> response = context.envd().download(absolute, header);
      InputStream body = EnvdClient.withIdleTimeout(response);
      long skipped = response.statusCode() == 206 ? 0 : range.offset();
      return new RangeInputStream(body, skipped, range.length());
    } catch (RpcError e) {
      throw errors.of(code(e), "reading", path, e.detail());
    }
  }

  private static ErrorCode code(RpcError e) {
    return switch (e.code()) {
      case "404", "not_found" -> ErrorCode.FILE_NOT_FOUND;
      case "401", "403", "permission_denied" -> ErrorCode.PERMISSION_DENIED;
      default -> ErrorCode.INVALID_REQUEST;
    };
  }

  /** A range of a body: skips the bytes before it and ignores those after it. */
  private static final class RangeInputStream extends FilterInputStream {
    private long before;
    private long left;

    RangeInputStream(InputStream body, long before, long left) {
      super(body);
      this.before = before;
      this.left = left;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (before > 0) {
        in.skipNBytes(before);
        before = 0;
      }
      if (left == 0) {
        return -1;
      }
      int count = in.read(to, offset, (int) Math.min(length, left));
      left -= Math.max(0, count);
      return count;
    }
  }
}
