package dev.isola.server.api;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.server.limit.ByteBudget;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.Violation;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a batch.
 *
 * @param location its position in the request, for error messages
 */
record FileOperation(String location, Map<?, ?> fields) {
  static final Shape CONTENT = new ContentShape();

  /** Content up to this size needs no reservation from the shared budget. */
  private static final int FREE_BYTES = 16 * 1024;

  private static final int MAX_READ = 8 << 20;
  private static final int FOLDER_MODE = 0755;

  /** The required fields of each operation. */
  private static final Map<String, List<String>> REQUIRED =
      Map.of(
          "write", List.of("path", "content"),
          "read", List.of("path"),
          "stat", List.of("path"),
          "mkdir", List.of("path"),
          "remove", List.of("path"),
          "chmod", List.of("path", "mode"),
          "move", List.of("path", "to"));

  private static final Map<String, Set<String>> OPTIONAL =
      Map.of(
          "write", Set.of("mode", "user"),
          "mkdir", Set.of("mode"),
          "remove", Set.of("recursive"),
          "move", Set.of("replace"));

  static final Shape SHAPE =
      new Shape.Obj(
              Field.required(
                  "op",
                  new Shape.Choice(REQUIRED.keySet().stream().sorted().toList()),
                  "the operation"),
              Field.required("path", Shapes.PATH, "path in the sandbox"),
              Field.optional("content", CONTENT, "for write"),
              Field.optional("mode", ModeBits.SHAPE, "for write, mkdir and chmod, such as 0644"),
              Field.optional("user", Shapes.WORD, "for write: the user whose permissions apply"),
              Field.optional("to", Shapes.PATH, "for move: the destination"),
              Field.optional(
                  "replace",
                  Shapes.FLAG,
                  "for move: replace an existing destination; default false"),
              Field.optional(
                  "recursive", Shapes.FLAG, "for remove: remove a directory tree; default false"))
          .named("FileOperation");

  /**
   * Limits how much content one batch reads, because the content is in memory until the response is
   * sent.
   */
  static final class ReadBudget implements AutoCloseable {
    private final ByteBudget budget;
    private int left = MAX_READ;
    private long taken;

    ReadBudget(ByteBudget budget) {
      this.budget = budget;
    }

    private void take(int bytes) {
      left -= bytes;
      if (bytes > FREE_BYTES) {
        if (!budget.tryReserve(bytes)) {
          throw Fault.of(
                  ErrorCode.RATE_LIMITED,
                  "the server's memory limit for the content of all requests is reached",
                  "try again in a moment, or read large files one by one")
              .with(RateLimiter.RETRY_AFTER, "1")
              .exception();
        }
        taken += bytes;
      }
    }

    /** Releases the reserved memory. */
    @Override
    public void close() {
      budget.release(taken);
      taken = 0;
    }
  }

  private String verb() {
    return (String) value("op");
  }

  private Object value(String field) {
    Object value = fields.get(field);
    if (value == null) {
      throw new IllegalStateException("not validated: " + field);
    }
    return value;
  }

  private String text(String field) {
    return (String) value(field);
  }

  private boolean isTrue(String field) {
    return Boolean.TRUE.equals(fields.get(field));
  }

  /** Reports missing fields and fields that the operation does not have. */
  void check(List<Violation> problems) {
    List<String> needed = REQUIRED.getOrDefault(verb(), List.of());
    List<String> known = new ArrayList<>(needed);
    known.add("op");
    known.addAll(OPTIONAL.getOrDefault(verb(), Set.of()));
    for (String field : needed) {
      if (fields.get(field) == null) {
        problems.add(new Violation(location + "." + field, "is required by " + verb()));
      }
    }
    for (Map.Entry<?, ?> field : fields.entrySet()) {
      if (field.getValue() != null && !known.contains(String.valueOf(field.getKey()))) {
        problems.add(
            new Violation(location + "." + field.getKey(), "is not supported by " + verb()));
      }
    }
    if (fields.get("content") instanceof Map<?, ?> content) {
      CommandBody.bytes(location + ".content", content);
    }
  }

  /** Executes the operation and returns its result. */
  Map<String, Object> perform(FileSystem files, ReadBudget budget) {
    String path = text("path");
    return switch (verb()) {
      case "write" -> write(files, path);
      case "read" -> Map.of("content", content(read(files, path, budget)));
      case "stat" -> Map.of("file", JsonViews.file(files.stat(path, NOFOLLOW_LINKS)));
      case "mkdir" -> {
        files.makeFolder(path, mode().orElse(FOLDER_MODE));
        yield Map.of();
      }
      case "remove" -> {
        files.remove(path, isTrue("recursive"));
        yield Map.of();
      }
      case "chmod" -> {
        files.changeMode(path, mode().orElseThrow());
        yield Map.of();
      }
      case "move" -> {
        files.move(path, text("to"), isTrue("replace"));
        yield Map.of();
      }
      default -> throw new IllegalStateException("not validated: " + verb());
    };
  }

  private Optional<Integer> mode() {
    return ModeBits.of(fields.get("mode"));
  }

  private Map<String, Object> write(FileSystem files, String path) {
    byte[] content = CommandBody.bytes(location + ".content", value("content"));
    @Nullable String user = (String) fields.get("user");
    FileSystem writer = user == null ? files : files.as(FileUser.of(user));
    WriteOptions options = new WriteOptions(mode(), true, false, false, false);
    return Map.of(
        "file", JsonViews.file(writer.write(path, new ByteArrayInputStream(content), options)));
  }

  private static byte[] read(FileSystem files, String path, ReadBudget budget) {
    if (budget.left == 0) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "a batch may read at most " + MAX_READ + " bytes",
              "read the rest in another batch, or large files one by one")
          .exception();
    }
    byte[] content = files.readBytes(path, budget.left);
    budget.take(content.length);
    return content;
  }

  /** Returns a string if the content is UTF-8, otherwise {@code {"base64": ...}}. */
  private static Object content(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException binary) {
      return Map.of("base64", Base64.getEncoder().encodeToString(bytes));
    }
  }
}
