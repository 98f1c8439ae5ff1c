package dev.isola.compat.mcp;

import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.ReadableFiles;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.Violation;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tools that read and write files. */
record FileTools(ServerContext context, ToolSandboxes sandboxes) {
  private static final int DEFAULT_READ = 32 * 1024;
  private static final int MAX_READ = 256 * 1024;
  private static final int MAX_LISTED = 500;
  private static final Shape ENCODING = new Shape.Choice(List.of("utf8", "base64"));

  private static final Field PATH =
      Field.required(
          "path", new Shape.NonEmptyText(4096), "Absolute, or relative to the workspace.");

  List<Tool> tools() {
    return List.of(
        new Tool(
            "read_file",
            "Read a file, or list a directory. Files that are not text are returned as base64.",
            Scope.READ,
            true,
            new Shape.Obj(
                PATH,
                SandboxTools.SANDBOX,
                Field.optional(
                    "offset", new Shape.WholeNumber(0, Long.MAX_VALUE), "Byte offset. Default 0."),
                Field.optional(
                    "limit",
                    new Shape.WholeNumber(1, MAX_READ),
                    "Bytes to read. Default 32768, at most 262144.")),
            this::read),
        new Tool(
            "write_file",
            "Write a file, creating missing directories. At most 1 MiB per call.",
            Scope.USE,
            false,
            new Shape.Obj(
                PATH,
                Field.required("content", new Shape.Text(1 << 20, ""), "Content of the file."),
                SandboxTools.SANDBOX,
                Field.optional("encoding", ENCODING, "Of content. Default utf8."),
                Field.optional("append", new Shape.Flag(), "Append instead of replacing.")),
            this::write));
  }

  private ToolResult read(ToolCall call) throws IOException {
    String path = call.requiredText("path");
    SandboxView view = sandboxes.require(call);
    ReadableFiles files = ReadableFiles.of(call.key(), context.sandboxes().get(view.id()).files());
    FileInfo info = files.target(path);
    if (info.type() == FileType.FOLDER) {
      return list(files, path);
    }
    long offset = call.number("offset").orElse(0L);
    int limit = call.number("limit").orElse((long) DEFAULT_READ).intValue();
    byte[] bytes;
    try (InputStream in = files.read(path, new ReadRange(offset, limit))) {
      bytes = in.readNBytes(limit);
    }
    int complete = completeCharacters(bytes);
    boolean cutOff = complete < bytes.length && offset + bytes.length >= info.size();
    Map<String, Object> json = new LinkedHashMap<>();
    String content;
    int used;
    if (bytes.length > 0 && (complete <= 0 || cutOff)) {
      content = Base64.getEncoder().encodeToString(bytes);
      used = bytes.length;
      json.put("encoding", "base64");
    } else {
      content = new String(bytes, 0, complete, StandardCharsets.UTF_8);
      used = complete;
      json.put("encoding", "utf8");
    }
    long next = offset + used;
    json.put("content", content);
    json.put("size", info.size());
    if (next < info.size()) {
      json.put("nextOffset", next);
    }
    String rest =
        next < info.size()
            ? "\n[bytes "
                + offset
                + " to "
                + next
                + " of "
                + info.size()
                + "; read on with offset="
                + next
                + "]"
            : "";
    return ToolResult.of(content + rest, json);
  }

  /**
   * Returns the length of the text without a character that is cut off at the end; -1 if the bytes
   * are not UTF-8.
   */
  private static int completeCharacters(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CoderResult result =
        StandardCharsets.UTF_8.newDecoder().decode(in, CharBuffer.allocate(bytes.length), false);
    return result.isError() ? -1 : in.position();
  }

  private static ToolResult list(ReadableFiles files, String path) {
    List<FileInfo> entries;
    try (Stream<FileInfo> all = files.list(path, 1)) {
      entries = all.limit(MAX_LISTED + 1L).toList();
    }
    boolean more = entries.size() > MAX_LISTED;
    List<FileInfo> shown = more ? entries.subList(0, MAX_LISTED) : entries;
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(
        "entries",
        shown.stream()
            .map(
                one ->
                    Map.of(
                        "name",
                        one.name(),
                        "type",
                        one.type().name().toLowerCase(Locale.ROOT),
                        "size",
                        one.size()))
            .toList());
    json.put("more", more);
    String text =
        shown.stream()
            .map(
                one ->
                    one.type() == FileType.FOLDER
                        ? one.name() + "/"
                        : one.name() + " " + one.size())
            .collect(Collectors.joining("\n"));
    String rest = more ? "\n[more than " + MAX_LISTED + " entries; use exec with ls]" : "";
    return ToolResult.of(text.isEmpty() ? "[empty directory]" : text + rest, json);
  }

  private ToolResult write(ToolCall call) {
    byte[] bytes = content(call);
    SandboxView view = sandboxes.requireOrCreate(call);
    WriteOptions options =
        call.flag("append") ? WriteOptions.DEFAULT.appending() : WriteOptions.DEFAULT;
    FileInfo info =
        context
            .sandboxes()
            .get(view.id())
            .files()
            .write(call.requiredText("path"), new ByteArrayInputStream(bytes), options);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("path", info.path());
    json.put("size", info.size());
    return ToolResult.of("wrote " + bytes.length + " bytes to " + info.path(), json);
  }

  private static byte[] content(ToolCall call) {
    String content = call.requiredText("content");
    if (!call.text("encoding").orElse("utf8").equals("base64")) {
      return content.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(content);
    } catch (IllegalArgumentException e) {
      throw Query.invalid(List.of(new Violation("content", "is not base64")));
    }
  }
}
