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

/** File system of a sandbox, served by its agent. */
final class AgentFiles implements FileSystem {
  private static final String USER_NAMESPACE = "user.";

  private final AgentClient client;

  /** Empty for the sandbox's default user. */
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

  private WireFieldsBuilder request(AgentOperation operation, String path) {
    WireFieldsBuilder request = new WireFieldsBuilder(operation).add(FieldTag.PATH, path);
    user.ifPresent(
        fileUser ->
            request.add(
                fileUser.privileged() ? FieldTag.FILE_OWNER : FieldTag.USER, fileUser.name()));
    return request;
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    WireFieldsBuilder request = request(AgentOperation.READ, path);
    if (range.offset() > 0) {
      request.add(FieldTag.OFFSET, range.offset());
    }
    if (range.length() < Long.MAX_VALUE) {
      request.add(FieldTag.LENGTH, range.length());
    }
    LinkStream stream = client.open(AgentOperation.READ, request, DataFrameInputStream.WINDOW);
    return DataFrameInputStream.open(stream, answer());
  }

  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    WireFieldsBuilder request =
        request(AgentOperation.WRITE, path).add(FieldTag.FLAGS, flags(options));
    options.mode().ifPresent(mode -> request.add(FieldTag.MODE, mode));
    LinkStream stream = client.open(AgentOperation.WRITE, request, 0);
    return read(stream, upload(stream, content));
  }

  @Override
  public FileInfo stat(String path, LinkOption... options) {
    WireFieldsBuilder request = request(AgentOperation.STAT, path);
    return statInfo(
        List.of(options).contains(LinkOption.NOFOLLOW_LINKS)
            ? request
            : request.add(FieldTag.FOLLOW, 1));
  }

  private FileInfo statInfo(WireFieldsBuilder request) {
    LinkStream stream = client.open(AgentOperation.STAT, request, 0);
    return read(stream, stream.awaitEnd(answer()));
  }

  @Override
  public Stream<FileInfo> list(String path, int depth) {
    WireFieldsBuilder request = request(AgentOperation.LIST, path).add(FieldTag.DEPTH, depth);
    return items(AgentOperation.LIST, request);
  }

  @Override
  public Stream<FileInfo> glob(String base, String pattern) {
    WireFieldsBuilder request = request(AgentOperation.GLOB, base).add(FieldTag.PATTERN, pattern);
    return items(AgentOperation.GLOB, request);
  }

  @Override
  public void makeFolder(String path, int mode) {
    WireFieldsBuilder request =
        request(AgentOperation.MKDIR, path)
            .add(FieldTag.MODE, mode)
            .add(FieldTag.FLAGS, Wire.MKDIR_PARENTS);
    client.call(AgentOperation.MKDIR, request, answer());
  }

  @Override
  public void move(String from, String to, boolean replace) {
    WireFieldsBuilder request =
        request(AgentOperation.MOVE, from)
            .add(FieldTag.TARGET, to)
            .add(FieldTag.FLAGS, replace ? Wire.MOVE_REPLACE : 0);
    client.call(AgentOperation.MOVE, request, longAnswer());
  }

  @Override
  public void remove(String path, boolean recursive) {
    WireFieldsBuilder request =
        request(AgentOperation.REMOVE, path)
            .add(FieldTag.FLAGS, recursive ? Wire.REMOVE_RECURSIVE : 0);
    client.call(AgentOperation.REMOVE, request, longAnswer());
  }

  @Override
  public void changeMode(String path, int mode) {
    WireFieldsBuilder request = request(AgentOperation.CHMOD, path).add(FieldTag.MODE, mode);
    client.call(AgentOperation.CHMOD, request, answer());
  }

  @Override
  public void changeOwner(String path, String owner) {
    WireFieldsBuilder request = request(AgentOperation.CHOWN, path).add(FieldTag.OWNER, owner);
    client.call(AgentOperation.CHOWN, request, answer());
  }

  @Override
  public void makeLink(String link, String target) {
    WireFieldsBuilder request = request(AgentOperation.SYMLINK, link).add(FieldTag.TARGET, target);
    client.call(AgentOperation.SYMLINK, request, answer());
  }

  @Override
  public Map<String, Bytes> attributes(String path) {
    WireFields listed =
        client.call(AgentOperation.XATTR, attribute(path, Wire.XATTR_LIST), answer());
    Map<String, Bytes> found = new LinkedHashMap<>();
    for (String name : listed.texts(FieldTag.NAME)) {
      if (name.startsWith(USER_NAMESPACE)) {
        WireFieldsBuilder get = attribute(path, Wire.XATTR_GET).add(FieldTag.NAME, name);
        LinkStream stream = client.open(AgentOperation.XATTR, get, 0);
        WireFields value = stream.awaitEnd(answer());
        String plain = name.substring(USER_NAMESPACE.length());
        found.put(
            plain, Bytes.of(value.has(FieldTag.VALUE) ? value.bytes(FieldTag.VALUE) : new byte[0]));
      }
    }
    return found;
  }

  @Override
  public void setAttribute(String path, String name, Bytes value) {
    WireFieldsBuilder request =
        attribute(path, Wire.XATTR_SET)
            .add(FieldTag.NAME, USER_NAMESPACE + name)
            .add(FieldTag.VALUE, value.toArray());
    client.call(AgentOperation.XATTR, request, answer());
  }

  @Override
  public void removeAttribute(String path, String name) {
    WireFieldsBuilder request =
        attribute(path, Wire.XATTR_REMOVE).add(FieldTag.NAME, USER_NAMESPACE + name);
    client.call(AgentOperation.XATTR, request, answer());
  }

  @Override
  public InputStream exportTree(String path, List<String> excludes) {
    WireFieldsBuilder request =
        request(AgentOperation.TAR_OUT, path).add(FieldTag.EXCLUDE, excludes);
    LinkStream stream = client.open(AgentOperation.TAR_OUT, request, DataFrameInputStream.WINDOW);
    return DataFrameInputStream.open(stream, longAnswer());
  }

  @Override
  public TreeSummary importTree(String path, InputStream archive, TreeLimits limits) {
    return unpack(path, archive, limits, 0);
  }

  /** Unpacks an archive; {@code flags} are those of TAR_IN in the protocol. */
  TreeSummary unpack(String path, InputStream archive, TreeLimits limits, int flags) {
    WireFieldsBuilder request =
        request(AgentOperation.TAR_IN, path)
            .add(FieldTag.FLAGS, flags)
            .add(FieldTag.MAX_BYTES, limits.maxBytes())
            .add(FieldTag.MAX_ENTRIES, limits.maxEntries());
    LinkStream stream = client.open(AgentOperation.TAR_IN, request, 0);
    WireFields end = upload(stream, archive);
    try {
      return new TreeSummary(end.count(FieldTag.COUNT), end.count(FieldTag.SIZE));
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  /**
   * Uploads {@code content} and waits for the result. On failure the agent has undone the change
   * before this method throws.
   */
  private WireFields upload(LinkStream stream, InputStream content) {
    try {
      if (new StreamUpload(stream.sendWindow(), content).run(longAnswer())) {
        stream.sendWindow().sendEof();
      }
      return stream.awaitEnd(longAnswer());
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

  private Stream<FileInfo> items(AgentOperation operation, WireFieldsBuilder request) {
    LinkStream stream = client.open(operation, request, ItemStream.WINDOW);
    return ItemStream.open(stream, longAnswer(), AgentFiles::info);
  }

  private WireFieldsBuilder attribute(String path, int action) {
    return request(AgentOperation.XATTR, path).add(FieldTag.ACTION, action);
  }

  private static int flags(WriteOptions options) {
    return Wire.WRITE_PARENTS
        | (options.atomic() ? Wire.WRITE_ATOMIC : 0)
        | (options.exclusive() ? Wire.WRITE_NEW : 0)
        | (options.append() ? Wire.WRITE_APPEND : 0)
        | (options.sync() ? Wire.WRITE_SYNC : 0);
  }

  private static FileInfo read(LinkStream stream, WireFields fields) {
    try {
      return info(fields);
    } catch (ProtocolViolation e) {
      throw stream.protocolViolation(e.getMessage());
    }
  }

  private static FileInfo info(WireFields fields) {
    FileType type =
        switch (fields.range(FieldTag.TYPE, 1, 4)) {
          case 1 -> FileType.FILE;
          case 2 -> FileType.FOLDER;
          case 3 -> FileType.LINK;
          default -> FileType.OTHER;
        };
    long uid = fields.count(FieldTag.UID);
    long gid = fields.count(FieldTag.GID);
    return new FileInfo(
        fields.text(FieldTag.PATH),
        type,
        fields.range(FieldTag.MODE, 0, 07777),
        fields.count(FieldTag.SIZE),
        uid,
        gid,
        fields.optionalText(FieldTag.OWNER).orElseGet(() -> Long.toString(uid)),
        fields.optionalText(FieldTag.GROUP).orElseGet(() -> Long.toString(gid)),
        Timestamps.instant(fields.number(FieldTag.MTIME_NS)),
        fields.optionalText(FieldTag.TARGET));
  }

  private Duration answer() {
    return client.timeouts().responseTimeout();
  }

  private Duration longAnswer() {
    return client.timeouts().longResponseTimeout();
  }
}
