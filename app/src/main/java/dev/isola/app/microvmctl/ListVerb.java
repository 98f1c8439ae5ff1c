package dev.isola.app.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.app.cli.CommandContext;
import dev.isola.client.FileInfo;
import dev.isola.client.Files;
import dev.isola.codec.json.Json;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code microvmctl list}. */
@Command(name = "list", description = "Print the entries of a folder as a JSON array.")
final class ListVerb extends PathVerb {
  ListVerb(CommandContext context) {
    super(context);
  }

  /** The output is JSON with and without {@code --json}, which is a global option. */
  @Override
  void run(Files files, String path) throws IOException {
    List<Map<String, Object>> entries = files.list(path).stream().map(ListVerb::entry).toList();
    context.environment().out().write((Json.text(entries) + "\n").getBytes(UTF_8));
  }

  private static Map<String, Object> entry(FileInfo file) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", file.name());
    entry.put("path", file.path());
    entry.put("type", file.isFolder() ? "dir" : file.type());
    if (file.isFile()) {
      entry.put("size", file.size());
    }
    return entry;
  }
}
