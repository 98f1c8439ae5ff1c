package dev.isola.provider.http;

import static dev.isola.provider.http.client.BackendAddress.encode;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.provider.http.client.BackendDocument;
import dev.isola.scripts.ScriptRunner;
import dev.isola.scripts.ScriptedFiles;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Files by the routes {@code files} and {@code list}, and by scripts. */
final class SimpleFiles extends ScriptedFiles {
  private static final Duration LONGEST_TRANSFER = Duration.ofHours(1);
  private static final OutputLimit SCRIPT_OUTPUT = new OutputLimit(64 << 10, 0);
  private static final int LISTING = 32 << 20;
  private static final int MOST_ENTRIES = 100_000;

  private final SimpleSandbox sandbox;

  SimpleFiles(SimpleSandbox sandbox, String folder) {
    super(HttpSettings.NAME, sandbox.id(), folder, argv -> run(sandbox, argv));
    this.sandbox = sandbox;
  }

  private static ScriptRunner.Result run(SimpleSandbox sandbox, List<String> argv) {
    ExecResult result =
        sandbox.run(
            Command.argv(argv.getFirst(), argv.subList(1, argv.size()))
                .withCwd("/")
                .withTimeout(sandbox.backend().longTimeout()),
            SCRIPT_OUTPUT);
    return new ScriptRunner.Result(
        result.exitCode(), result.stdout().text(), result.stderr().text());
  }

  private String route(String name, String absolute) {
    return sandbox.backend().path(sandbox.id()) + "/" + name + "?path=" + encode(absolute);
  }

  @Override
  public InputStream read(String path, ReadRange range) {
    FileInfo info = statFile(path);
    return new PagedContent(
        sandbox,
        route("files", absolute(path)),
        range.offset(),
        Math.min(range.length(), Math.max(0, info.size() - range.offset())));
  }

  /** Reads all of the content first, so that content that fails replaces nothing. */
  @Override
  public FileInfo write(String path, InputStream content, WriteOptions options) {
    String how = options.append() ? "append" : options.exclusive() ? "new" : "replace";
    String mode = options.mode().map(bits -> "&mode=%03o".formatted(bits)).orElse("");
    String route = route("files", absoluteFile(path)) + "&how=" + how + mode;
    try (SpooledContent spooled = SpooledContent.of(content)) {
      sandbox.call(
          () ->
              sandbox
                  .backend()
                  .client()
                  .send(
                      BackendCall.of("write", "PUT", route, Effect.ONCE)
                          .sendingBytes(spooled.publisher()),
                      LONGEST_TRANSFER));
    }
    return stat(path);
  }

  @Override
  protected List<FileInfo> list(String absolute) {
    BackendDocument json =
        sandbox.call(
            () ->
                sandbox
                    .backend()
                    .client()
                    .document(
                        BackendCall.get("list", route("list", absolute), LISTING),
                        sandbox.backend().longTimeout()));
    return json.documents("entries", MOST_ENTRIES).stream()
        .map(entry -> file(entry, absolute))
        .toList();
  }

  /** The path is built here: one of the backend could name any file. */
  private static FileInfo file(BackendDocument entry, String folder) {
    String name = entry.text("name");
    if (name.isEmpty()
        || name.indexOf('/') >= 0
        || name.indexOf('\0') >= 0
        || name.equals(".")
        || name.equals("..")) {
      throw entry.malformed("an entry has no valid name");
    }
    FileType type =
        BackendInfo.word(FileType.class, entry.text("type"))
            .orElseThrow(() -> entry.malformed("the type of an entry is not known"));
    return new FileInfo(
        (folder.endsWith("/") ? folder : folder + "/") + name,
        type,
        0,
        entry.optionalCount("size").orElse(0),
        0,
        0,
        "",
        "",
        Instant.EPOCH,
        Optional.empty());
  }
}
