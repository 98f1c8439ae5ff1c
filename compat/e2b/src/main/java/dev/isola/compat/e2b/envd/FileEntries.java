package dev.isola.compat.e2b.envd;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.server.route.Exchange;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Describes files in the JSON of E2B's API.
 *
 * @param allFields whether entries have more fields than name, type and path
 */
record FileEntries(FileSystem files, boolean allFields) {
  /**
   * The User-Agent of Python clients before 1.7. They know three fields only, and those before 1.6
   * fail at any other.
   */
  private static final String FIRST_PYTHON_CLIENTS = "connect-python";

  /** Prefix of the extended attributes that hold a file's metadata. */
  static final String METADATA = "e2b.";

  private static final String PERMISSION_LETTERS = "rwxrwxrwx";

  /** Errors which mean that the attributes of a file are absent or cannot be read. */
  private static final Set<ErrorCode> NO_ATTRIBUTES =
      Set.of(
          ErrorCode.NOT_IMPLEMENTED,
          ErrorCode.NOT_A_FILE,
          ErrorCode.PERMISSION_DENIED,
          ErrorCode.FILE_NOT_FOUND);

  FileEntries(FileSystem files) {
    this(files, true);
  }

  /** Returns entries with the fields that the client of a request knows. */
  static FileEntries knownTo(Exchange exchange, FileSystem files) {
    boolean first = exchange.header("User-Agent").filter(FIRST_PYTHON_CLIENTS::equals).isPresent();
    return new FileEntries(files, !first);
  }

  Map<String, Object> at(String path) {
    return entry(files.stat(path, NOFOLLOW_LINKS));
  }

  /** Describes a file. Type and mode of a symbolic link are those of its target. */
  Map<String, Object> entry(FileInfo info) {
    Optional<FileInfo> target = info.type() == FileType.LINK ? target(info) : Optional.of(info);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", info.name());
    entry.put("type", fileType(target.map(FileInfo::type).orElse(FileType.OTHER)));
    entry.put("path", info.path());
    if (!allFields) {
      return entry;
    }
    entry.put("size", Long.toString(info.size()));
    entry.put("mode", target.map(FileInfo::mode).orElse(0) & 0777);
    entry.put("permissions", permissions(info));
    entry.put("owner", info.owner());
    entry.put("group", info.group());
    entry.put("modifiedTime", info.modifiedAt().toString());
    if (info.type() == FileType.LINK) {
      entry.put("symlinkTarget", target.map(FileInfo::path).orElse(info.path()));
    }
    Map<String, String> metadata = metadata(info, target);
    if (!metadata.isEmpty()) {
      entry.put("metadata", metadata);
    }
    return entry;
  }

  private Optional<FileInfo> target(FileInfo link) {
    try {
      return Optional.of(files.stat(link.path()));
    } catch (SandboxException e) {
      return Optional.empty(); // a dangling or circular link
    }
  }

  private Map<String, String> metadata(FileInfo info, Optional<FileInfo> target) {
    boolean supported = target.filter(one -> one.type() == FileType.FILE).isPresent();
    return supported || info.type() == FileType.FOLDER ? metadata(info.path()) : Map.of();
  }

  Map<String, String> metadata(String path) {
    Map<String, String> metadata = new TreeMap<>();
    try {
      for (Map.Entry<String, Bytes> one : files.attributes(path).entrySet()) {
        if (one.getKey().startsWith(METADATA)) {
          metadata.put(one.getKey().substring(METADATA.length()), one.getValue().utf8());
        }
      }
    } catch (SandboxException e) {
      if (!NO_ATTRIBUTES.contains(e.code())) {
        throw e;
      }
    }
    return metadata;
  }

  private static String fileType(FileType type) {
    return switch (type) {
      case FILE -> "FILE_TYPE_FILE";
      case FOLDER -> "FILE_TYPE_DIRECTORY";
      case LINK -> "FILE_TYPE_SYMLINK";
      case OTHER -> "FILE_TYPE_UNSPECIFIED";
    };
  }

  /** Formats the mode as Go does: letters for special bits, then nine permission bits. */
  static String permissions(FileInfo info) {
    StringBuilder text = new StringBuilder();
    switch (info.type()) {
      case FOLDER -> text.append('d');
      case LINK -> text.append('L');
      case OTHER -> text.append('?');
      case FILE -> {}
    }
    text.append((info.mode() & 04000) != 0 ? "u" : "");
    text.append((info.mode() & 02000) != 0 ? "g" : "");
    text.append((info.mode() & 01000) != 0 ? "t" : "");
    if (text.isEmpty()) {
      text.append('-');
    }
    for (int i = 0; i < PERMISSION_LETTERS.length(); i++) {
      text.append((info.mode() & (0400 >> i)) != 0 ? PERMISSION_LETTERS.charAt(i) : '-');
    }
    return text.toString();
  }
}
