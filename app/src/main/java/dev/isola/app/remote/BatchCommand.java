package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.client.FileBatch;
import dev.isola.client.FileBatchResult;
import dev.isola.client.Isola;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola batch}. */
@Command(
    name = "batch",
    description = {
      "Execute many small file operations in a sandbox, in one request and in order.",
      "Stops at the first failure; completed operations are not undone."
    },
    footer = {
      "%nFor example:",
      "  echo '[{\"op\":\"write\",\"path\":\"a\",\"content\":\"1\"},{\"op\":\"stat\",\"path\":\"a\"}]'"
          + " | isola batch ID"
    })
public final class BatchCommand extends RemoteCommand {
  private static final int MAX_BYTES = 1 << 20;

  @Option(names = "--keep-going", description = "Continue after a failure.")
  private boolean keepGoing;

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      arity = "0..1",
      description =
          "JSON list of operations: write, read, stat, mkdir, move, chmod, remove. Default: stdin.")
  private String file = "-";

  public BatchCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<Map<String, Object>> operations = operations();
    FileBatchResult result = sandbox(isola, id).files().batch(new FileBatch(operations, keepGoing));
    if (console.json()) {
      console.print(result.document());
    } else {
      for (int i = 0; i < result.results().size(); i++) {
        console.print(line(operations.get(i), result.results().get(i)));
      }
      if (result.left() > 0) {
        console.printErr(result.left() + " further operations were not attempted");
      }
    }
    return result.succeeded() ? ExitCodes.OK : ExitCodes.FAILED;
  }

  private static String line(Map<String, Object> operation, FileBatchResult.Result result) {
    String outcome = result.problem().map(problem -> "failed: " + problem.detail()).orElse("ok");
    return CellFormat.text(operation.get("op") + " " + operation.get("path") + ": " + outcome)
        + "\n";
  }

  private List<Map<String, Object>> operations() {
    try {
      if (Json.parse(read()) instanceof List<?> list) {
        List<Map<String, Object>> operations = new ArrayList<>();
        for (Object one : list) {
          operations.add(fields(one));
        }
        return operations;
      }
    } catch (MalformedJson e) {
      throw notOperations(String.valueOf(e.getMessage()));
    }
    throw notOperations("it is not a list");
  }

  private Map<String, Object> fields(@Nullable Object operation) {
    if (!(operation instanceof Map<?, ?> map)) {
      throw notOperations("an element is not an object");
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    map.forEach(
        (name, value) -> {
          if (value == null) {
            throw notOperations("the field " + name + " is null");
          }
          fields.put(String.valueOf(name), value);
        });
    return fields;
  }

  private UsageException notOperations(String why) {
    return new UsageException(
        "'" + file + "' is not a JSON list of operations: " + why,
        "see isola batch --help for an example");
  }

  private byte[] read() {
    try (InputStream in =
        file.equals("-")
            ? context.environment().in()
            : Files.newInputStream(Arguments.hostPath("FILE", file))) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new UsageException(
            "a batch has at most 1 MiB", "split it, or copy large files with isola cp");
      }
      return bytes;
    } catch (IOException e) {
      throw new UsageException(
          "'" + file + "' cannot be read", "use a file on this host, or - for stdin");
    }
  }
}
