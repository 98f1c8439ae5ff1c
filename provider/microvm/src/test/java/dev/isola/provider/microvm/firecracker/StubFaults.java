package dev.isola.provider.microvm.firecracker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** Faults that {@link FirecrackerStub} plays when it receives certain requests. */
interface StubFaults {
  StubFaults NONE = _ -> Optional.empty();

  /** What the stub does instead of answering. */
  enum Kind {
    /** Never answers. */
    HANG,
    /** Sends these bytes and hangs up. */
    ANSWER,
    /** Sends a megabyte. */
    FLOOD,
    /** Exits with this code without an answer. */
    EXIT
  }

  record Fault(Kind kind, String detail) {}

  /** Returns the fault for a request, such as {@code PUT /vsock}. */
  Optional<Fault> of(String request);

  static StubFaults on(String request, Kind kind, String detail) {
    return asked -> asked.equals(request) ? Optional.of(new Fault(kind, detail)) : Optional.empty();
  }

  /** Returns the faults in a file, with lines such as {@code PUT /vsock=EXIT 9}. */
  static StubFaults inFile(Path file) {
    return asked -> {
      try (var lines = Files.lines(file)) {
        return lines
            .map(line -> line.split("=", 2))
            .filter(parts -> parts[0].equals(asked))
            .map(parts -> parts[1].split(" ", 2))
            .map(
                parts ->
                    new Fault(
                        Kind.valueOf(parts[0]),
                        parts.length > 1 ? parts[1].translateEscapes() : ""))
            .findFirst();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    };
  }

  /** Writes the faults that {@link #inFile} reads; replaces earlier ones. */
  static void write(Path file, Map<String, Fault> faults) throws IOException {
    Files.write(
        file,
        faults.entrySet().stream()
            .map(
                one ->
                    one.getKey()
                        + "="
                        + one.getValue().kind()
                        + " "
                        + one.getValue().detail().replace("\r", "\\r").replace("\n", "\\n"))
            .toList());
  }

  /** Returns a complete response. */
  static String response(int status, String body) {
    return String.join(
        "\r\n",
        Arrays.asList(
            "HTTP/1.1 " + status + " X",
            "Content-Type: application/json",
            "Content-Length: " + body.getBytes(UTF_8).length,
            "",
            body));
  }
}
