package dev.isola.server.audit;

import dev.isola.codec.json.Json;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the audit log from its end, through its rotated files. A request reads at most {@value
 * #MAX_BYTES} bytes, whatever it searches for.
 *
 * @param file the current file of the log; empty if the server writes none
 */
public record AuditReader(Optional<Path> file) {
  private static final int BLOCK = 64 << 10;
  static final long MAX_BYTES = 8 << 20;

  /** The reader of a server without an audit log. */
  public static final AuditReader NONE = new AuditReader(Optional.empty());

  /**
   * A position in the log: everything before an offset of a file, and all older files. The file is
   * named by its inode, which survives the rotation.
   */
  private record Cursor(long inode, long offset) {
    static Cursor of(String text) {
      int dash = text.indexOf('-');
      return new Cursor(
          Long.parseLong(text.substring(0, dash)), Long.parseLong(text.substring(dash + 1)));
    }

    @Override
    public String toString() {
      return inode + "-" + offset;
    }
  }

  /**
   * A part of the log.
   *
   * @param entries newest first
   * @param next the cursor of the next part; empty at the beginning of the log
   */
  public record Page(List<Map<String, Object>> entries, Optional<String> next) {}

  /** The form of a cursor. */
  public static final String CURSOR = "^[0-9]{1,18}-[0-9]{1,18}$";

  /**
   * Returns the latest entries.
   *
   * @param sandbox only entries of this sandbox
   * @param before the cursor of the previous part; the end of the log if it is empty
   * @throws dev.isola.spi.error.NotFound if there is no audit log
   */
  public Page read(Optional<String> sandbox, int limit, Optional<String> before)
      throws IOException {
    Path current = file.orElseThrow(AuditReader::disabled);
    Search search = new Search(sandbox, limit);
    Optional<Cursor> cursor = before.map(Cursor::of);
    boolean found = cursor.isEmpty();
    for (Path path : AuditLog.files(current)) {
      try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
        long inode = (Long) Files.getAttribute(path, "unix:ino");
        long end = channel.size();
        if (!found) {
          found = cursor.get().inode() == inode;
          end = Math.min(end, cursor.get().offset());
        }
        if (found) {
          long left = search.readBackwards(channel, end);
          if (search.isComplete()) {
            return new Page(search.entries, Optional.of(new Cursor(inode, left).toString()));
          }
        }
      } catch (NoSuchFileException e) {
        // Fewer files have been rotated so far, or one was rotated just now.
      }
    }
    return new Page(search.entries, Optional.empty());
  }

  private static SandboxException disabled() {
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "this server writes no audit log",
            "set server.audit.enabled: true in the configuration, and restart the server")
        .exception();
  }

  /** The state of one request. */
  private static final class Search {
    private final Optional<String> sandbox;
    private final int limit;
    private final List<Map<String, Object>> entries = new ArrayList<>();
    private long bytesRead;

    Search(Optional<String> sandbox, int limit) {
      this.sandbox = sandbox;
      this.limit = limit;
    }

    boolean isComplete() {
      return entries.size() >= limit || bytesRead >= MAX_BYTES;
    }

    /** Reads lines that end before {@code end}, and returns where the last one of them begins. */
    long readBackwards(FileChannel channel, long end) throws IOException {
      long position = end;
      while (position > 0 && !isComplete()) {
        long start = Math.max(0, position - BLOCK);
        byte[] block = read(channel, start, (int) (position - start));
        int from = block.length;
        for (int line = lineStart(block, from, start); line >= 0; ) {
          add(new String(block, line, from - line, StandardCharsets.UTF_8).strip());
          from = line;
          if (isComplete()) {
            return start + from;
          }
          line = from == 0 ? -1 : lineStart(block, from, start);
        }
        position = from == block.length ? start : start + from; // skips what is not a line
      }
      return position;
    }

    private byte[] read(FileChannel channel, long start, int length) throws IOException {
      ByteBuffer block = ByteBuffer.allocate(length);
      int read = 0;
      while (block.hasRemaining() && read >= 0) {
        read = channel.read(block, start + block.position());
      }
      bytesRead += length;
      return block.array();
    }

    /** Returns where the line that ends at {@code end} begins; -1 if it begins before the block. */
    private static int lineStart(byte[] block, int end, long blockStart) {
      for (int i = end - 2; i >= 0; i--) {
        if (block[i] == '\n') {
          return i + 1;
        }
      }
      return blockStart == 0 && end > 0 ? 0 : -1;
    }

    private void add(String line) {
      if (!line.startsWith("{") || !line.endsWith("}")) {
        return; // cut off by a full disk
      }
      Map<String, Object> entry = Json.parseObject(line);
      if (sandbox.isEmpty() || sandbox.get().equals(entry.get("sandbox"))) {
        entries.add(entry);
      }
    }
  }
}
