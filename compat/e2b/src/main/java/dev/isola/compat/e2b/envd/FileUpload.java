package dev.isola.compat.e2b.envd;

import dev.isola.server.route.Exchange;
import dev.isola.spi.Bytes;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/** Receives uploaded files: a single file as the body, or the files of a form. */
final class FileUpload {
  private static final String FORM = "multipart/form-data";
  private static final String FIELD = "file";
  private static final int MAX_FILES = 10_000;
  private static final int BUFFER = 64 * 1024;

  private final Exchange exchange;
  private final SandboxAccess.SandboxUser user;
  private final FileSystem files;
  private final Map<String, String> metadata;
  private final Set<String> paths = new HashSet<>();
  private final List<Map<String, Object>> written = new ArrayList<>();

  FileUpload(Exchange exchange, SandboxAccess.SandboxUser user) {
    this.exchange = exchange;
    this.user = user;
    files = user.files();
    metadata = exchange.headersWithPrefix("x-metadata-");
  }

  /** Writes the files one after the other as they arrive. If one fails, those before it remain. */
  List<Map<String, Object>> receive() throws IOException {
    String type = exchange.header("Content-Type").orElse("");
    Optional<String> path = exchange.query("path").filter(text -> !text.isEmpty());
    try {
      InputStream content = decodedContent();
      if (!type.toLowerCase(Locale.ROOT).startsWith(FORM)) {
        write(
            path.orElseThrow(() -> ConnectMessage.invalid("the parameter path is missing")),
            content);
        return written;
      }
      Multipart form = new Multipart(content, type);
      for (Optional<Multipart.Part> part = form.next(); part.isPresent(); part = form.next()) {
        if (part.get().name().equals(FIELD)) {
          write(
              path.or(part.get()::file)
                  .filter(text -> !text.isEmpty())
                  .orElseThrow(() -> ConnectMessage.invalid("a file in the form has no name")),
              part.get().content());
        }
      }
      return written;
    } catch (UncheckedIOException e) {
      throw e.getCause(); // the client disconnected
    }
  }

  private InputStream decodedContent() throws IOException {
    String encoding = exchange.header("Content-Encoding").orElse("identity").strip();
    return switch (encoding.toLowerCase(Locale.ROOT)) {
      case "identity", "" -> exchange.content();
      case "gzip" -> new GZIPInputStream(exchange.content(), BUFFER);
      default -> throw ConnectMessage.invalid("Content-Encoding must be gzip or identity");
    };
  }

  private void write(String requestedPath, InputStream content) {
    String path = user.home().absolute(requestedPath);
    if (!paths.add(path)) {
      throw ConnectMessage.invalid("the path " + path + " occurs twice in the form");
    }
    if (paths.size() > MAX_FILES) {
      throw ConnectMessage.invalid("a request may contain at most " + MAX_FILES + " files");
    }
    FileInfo info = files.write(path, content, WriteOptions.DEFAULT.inPlace());
    replaceMetadata(path);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("path", path);
    entry.put("name", info.name());
    entry.put("type", "file");
    if (!metadata.isEmpty()) {
      entry.put("metadata", metadata);
    }
    written.add(entry);
  }

  /** Replaces the metadata of a file, which may have existed before, by that of the request. */
  private void replaceMetadata(String path) {
    for (String name : new FileEntries(files).metadata(path).keySet()) {
      if (!metadata.containsKey(name)) {
        files.removeAttribute(path, FileEntries.METADATA + name);
      }
    }
    metadata.forEach(
        (name, value) -> files.setAttribute(path, FileEntries.METADATA + name, Bytes.utf8(value)));
  }
}
