package dev.isola.link;

import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The files of a sandbox, opened by its agent. */
final class AgentFiles implements FileSystem {
  private static final String USER_SPACE = "user.";

  private final AgentClient client;

  /** The sandbox's own when empty. */
  private final Optional<FileUser> user;

  AgentFiles(AgentClient client) {
    this(client, Optional.empty());
  }

  private AgentFiles(AgentClient client, Optional<FileUser> user) {
    this.client = client;
    this.user = user;
  }

  @Override
  public FileSystem as(FileUser user) {
    return new AgentFiles(client, Optional.of(user));
  }

  private FieldsBuilder request(Operation operation, String path) {
    FieldsBuilder request = new FieldsBuilder(operation).add(Tag.PATH, path);
    user.ifPresent(one -> request.add(one.privileged() ? Tag.HEIR : Tag.USER, one.name()));
    return request;
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    FieldsBuilder request = request(Operation.READ, path);
    if (range.offset() > 0) {
      request.add(Tag.OFFSET, range.offset());
    }
    if (range.length() < Long.MAX_VALUE) {
      request.add(Tag.LENGTH, range.length());
    }
    LinkStream stream = client.open(Operation.READ, request, DataInput.WINDOW);
    return DataInput.open(stream, answer());
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    FieldsBuilder request = request(Operation.WRITE, path).add(Tag.FLAGS, flags(options));
    options.mode().ifPresent(mode -> request.add(Tag.MODE, mode));
    LinkStream stream = client.open(Operation.WRITE, request, 0);
    return read(stream, upload(stream, content));
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    FieldsBuilder request = request(Operation.STAT, path);
    return described(
        List.of(options).contains(LinkOption.NOFOLLOW_LINKS)
            ? request
            : request.add(Tag.FOLLOW, 1));
  }

  private FileInfo described(FieldsBuilder request) {
    LinkStream stream = client.open(Operation.STAT, request, 0);
    return read(stream, stream.end(answer()));
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    FieldsBuilder request = request(Operation.LIST, path).add(Tag.DEPTH, depth);
    return items(Operation.LIST, request);
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    FieldsBuilder request = request(Operation.GLOB, base).add(Tag.PATTERN, pattern);
    return items(Operation.GLOB, request);
  }

  @Override
  public void makeFolder(String path, int mode) {
    FieldsBuilder request =
        request(Operation.MKDIR, path).add(Tag.MODE, mode).add(Tag.FLAGS, Wire.MKDIR_PARENTS);
    client.call(Operation.MKDIR, request, answer());
  }

  @Override
  public void move(String from, String to, boolean replace) {
    FieldsBuilder request =
        request(Operation.MOVE, from)
            .add(Tag.TARGET, to)
            .add(Tag.FLAGS, replace ? Wire.MOVE_REPLACE : 0);
    client.call(Operation.MOVE, request, longAnswer());
  }

  @Override
  public void remove(String path, boolean recursive) {
    FieldsBuilder request =
        request(Operation.REMOVE, path).add(Tag.FLAGS, recursive ? Wire.REMOVE_RECURSIVE : 0);
    client.call(Operation.REMOVE, request, longAnswer());
  }

  @Override
  public void changeMode(String path, int mode) {
    FieldsBuilder request = request(Operation.CHMOD, path).add(Tag.MODE, mode);
    client.call(Operation.CHMOD, request, answer());
  }

  @Override
  public void changeOwner(String path, String owner) {
    FieldsBuilder request = request(Operation.CHOWN, path).add(Tag.OWNER, owner);
    client.call(Operation.CHOWN, request, answer());
  }

  @Override
  public void makeLink(String link, String target) {
    FieldsBuilder request = request(Operation.SYMLINK, link).add(Tag.TARGET, target);
    client.call(Operation.SYMLINK, request, answer());
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    Fields listed = client.call(Operation.XATTR, attribute(path, Wire.XATTR_LIST), answer());
    Map<String, Bytes> found = new LinkedHashMap<>();
    for (String name : listed.texts(Tag.NAME)) {
      if (name.startsWith(USER_SPACE)) {
        FieldsBuilder get = attribute(path, Wire.XATTR_GET).add(Tag.NAME, name);
        LinkStream stream = client.open(Operation.XATTR, get, 0);
        Fields value = stream.end(answer());
        String plain = name.substring(USER_SPACE.length());
        found.put(plain, Bytes.of(value.has(Tag.VALUE) ? value.bytes(Tag.VALUE) : new byte[0]));
      }
    }
    return found;
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    FieldsBuilder request =
        attribute(path, Wire.XATTR_SET)
            .add(Tag.NAME, USER_SPACE + name)
            .add(Tag.VALUE, value.toArray());
    client.call(Operation.XATTR, request, answer());
  }

  @Override
  public void removeAttribute(String path, String name) {
    FieldsBuilder request = attribute(path, Wire.XATTR_REMOVE).add(Tag.NAME, USER_SPACE + name);
    client.call(Operation.XATTR, request, answer());
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    FieldsBuilder request = request(Operation.TAR_OUT, path).add(Tag.EXCLUDE, excludes);
    LinkStream stream = client.open(Operation.TAR_OUT, request, DataInput.WINDOW);
    return DataInput.open(stream, longAnswer());
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    return unpack(path, archive, limits, 0);
  }

  /** Unpacks an archive; {@code flags} as the protocol has them. */
  TreeSummary unpack(String path, InputStream archive, TreeLimits limits, int flags) {
    FieldsBuilder request =
        request(Operation.TAR_IN, path)
            .add(Tag.FLAGS, flags)
            .add(Tag.MAX_BYTES, limits.maxBytes())
            .add(Tag.MAX_ENTRIES, limits.maxEntries());
    LinkStream stream = client.open(Operation.TAR_IN, request, 0);
    Fields end = upload(stream, archive);
    try {
      return new TreeSummary(end.count(Tag.COUNT), end.count(Tag.SIZE));
    } catch (ProtocolViolation e) {
      throw stream.violated(e.getMessage());
    }
  }

  /**
   * Sends {@code content} and waits for the result. When it fails the agent has undone it before
   * this throws.
   */
  private Fields upload(LinkStream stream, InputStream content) {
    try {
      if (new Upload(stream.out(), content).run(longAnswer())) {
        stream.out().end();
      }
      return stream.end(longAnswer());
    } catch (InterruptedException | ClosedByInterruptException e) {
      throw stream.interrupted();
    } catch (IOException e) {
      stream.cancelAndWait(answer());
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      stream.cancelAndWait(answer());
      throw e;
    }
  }

  private Stream<FileInfo> items(Operation operation, FieldsBuilder request) {
    LinkStream stream = client.open(operation, request, ItemStream.WINDOW);
    return ItemStream.open(stream, longAnswer(), AgentFiles::info);
  }

  private FieldsBuilder attribute(String path, int action) {
    return request(Operation.XATTR, path).add(Tag.ACTION, action);
  }

  private static int flags(WriteOptions options) {
    return Wire.WRITE_PARENTS
        | (options.atomic() ? Wire.WRITE_ATOMIC : 0)
        | (options.exclusive() ? Wire.WRITE_NEW : 0)
        | (options.append() ? Wire.WRITE_APPEND : 0)
        | (options.sync() ? Wire.WRITE_SYNC : 0);
  }

  private static FileInfo read(LinkStream stream, Fields fields) {
    try {
      return info(fields);
    } catch (ProtocolViolation e) {
      throw stream.violated(e.getMessage());
    }
  }

  private static FileInfo info(Fields fields) {
    FileType type =
        switch (fields.range(Tag.TYPE, 1, 4)) {
          case 1 -> FileType.FILE;
          case 2 -> FileType.FOLDER;
          case 3 -> FileType.LINK;
          default -> FileType.OTHER;
        };
    long uid = fields.count(Tag.UID);
    long gid = fields.count(Tag.GID);
    return new FileInfo(
        fields.text(Tag.PATH),
        type,
        fields.range(Tag.MODE, 0, 07777),
        fields.count(Tag.SIZE),
        uid,
        gid,
        fields.optionalText(Tag.OWNER).orElseGet(() -> Long.toString(uid)),
        fields.optionalText(Tag.GROUP).orElseGet(() -> Long.toString(gid)),
        Timestamps.instant(fields.number(Tag.MTIME_NS)),
        fields.optionalText(Tag.TARGET));
  }

  private Duration answer() {
    return client.options().answer();
  }

  private Duration longAnswer() {
    return client.options().longAnswer();
  }
}
