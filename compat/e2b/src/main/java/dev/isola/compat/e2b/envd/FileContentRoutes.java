package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.InsecureAccess;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.content.ByteRange;
import dev.isola.server.content.FileResponse;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.zip.GZIPOutputStream;

/**
 * Routes that read and write file content as a stream. A signed URL needs no header and does not
 * name its sandbox.
 */
record FileContentRoutes(FileContentAuthorizer authorizer, SandboxAccess access) {
  private static final String BYTES = "application/octet-stream";
  private static final String SANDBOX_FILES = EnvdRoutes.PREFIX + "{id}/files";
  private static final String SIGNED_FILES = "/files";
  private static final int BUFFER = 64 * 1024;
  private static final int MAX_DRAINED = 256 * 1024;

  FileContentRoutes(
      ServerContext context, ApiKeys keys, InsecureAccess insecure, SandboxAccess inside) {
    this(new FileContentAuthorizer(context, keys, insecure), inside);
  }

  List<Route> routes() {
    return List.of(
        reading(SANDBOX_FILES, "envdReadFile")
            .handledBy(exchange -> read(exchange, authorizedUser(exchange, READ))),
        writing(SANDBOX_FILES, "envdWriteFiles")
            .handledBy(exchange -> write(exchange, this::authorizedUser)),
        reading(SIGNED_FILES, "readSignedFile").handledBy(this::readSigned),
        writing(SIGNED_FILES, "writeSignedFiles").handledBy(this::writeSigned));
  }

  /** The signature tells which sandbox the request concerns, and so which server owns it. */
  private void readSigned(Exchange exchange) throws IOException {
    SandboxId id = signer(exchange, READ);
    if (!exchange.passToOwner(id)) {
      read(exchange, sandboxUser(exchange, id));
    }
  }

  private void writeSigned(Exchange exchange) throws IOException {
    SandboxId id;
    try {
      id = signer(exchange, WRITE);
    } catch (SandboxException e) {
      drain(exchange);
      throw e;
    }
    if (!exchange.passToOwner(id)) {
      write(exchange, (any, operation) -> sandboxUser(any, id));
    }
  }

  private static final String READ = UrlSignature.READ;
  private static final String WRITE = UrlSignature.WRITE;

  private static Route reading(String template, String name) {
    return Route.of("GET", template, name, "Reads a file, or a range of it.")
        .withoutKey()
        .of(E2bDialect.ENVD)
        .answers(Response.of(BYTES, "the content; 206 for a range"));
  }

  private static Route writing(String template, String name) {
    return Route.of("POST", template, name, "Writes a file, or the files of a multipart form.")
        .withoutKey()
        .of(E2bDialect.ENVD)
        .takes(new Body.Stream(BYTES))
        .answers(Response.of("application/json", "the files that were written"));
  }

  private SandboxAccess.SandboxUser authorizedUser(Exchange exchange, String operation) {
    SandboxId id = exchange.sandbox();
    authorizer.authorize(exchange, id, operation);
    return sandboxUser(exchange, id);
  }

  private SandboxId signer(Exchange exchange, String operation) {
    SandboxId id = authorizer.findSigner(exchange, operation);
    exchange.setSandbox(id);
    return id;
  }

  private SandboxAccess.SandboxUser sandboxUser(Exchange exchange, SandboxId id) {
    return access.sandboxUser(
        access.sandbox(id), exchange.query("username").filter(name -> !name.isEmpty()));
  }

  private static void read(Exchange exchange, SandboxAccess.SandboxUser user) throws IOException {
    FileSystem files = user.files();
    String path = user.home().absolute(exchange.query("path").orElse(""));
    FileInfo info = files.stat(path);
    if (info.type() == FileType.FOLDER) {
      throw Fault.of(ErrorCode.IS_A_FOLDER, "path '" + path + "' is a directory", "").exception();
    }
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Accept-Ranges", "bytes");
    headers.put("Vary", "Accept-Encoding");
    headers.put("Content-Disposition", "inline; filename=\"" + asciiName(info.name()) + "\"");
    Optional<ByteRange> range = ByteRange.of(exchange.header("Range"));
    if (range.isPresent()) {
      ByteRange.Part part = range.get().within(info.size());
      headers.put("Content-Range", part.header());
      headers.put("Content-Length", Long.toString(part.length()));
      ReadRange readRange = new ReadRange(part.first(), part.length());
      FileResponse.send(exchange, 206, BYTES, files.read(path, readRange), headers);
    } else {
      // A large file is sent with the length it had a moment ago, even if it has grown since.
      ReadRange readRange = info.size() > BUFFER ? new ReadRange(0, info.size()) : ReadRange.ALL;
      sendWhole(exchange, files.read(path, readRange), info.size(), headers);
    }
  }

  private static String asciiName(String name) {
    return name.replaceAll("[^ -~]|[\"\\\\]", "_");
  }

  /**
   * Sends a whole file. It is compressed only if gzip is the only encoding the client accepts:
   * other clients list gzip among many, and on most connections compression costs more than it
   * saves.
   */
  private static void sendWhole(
      Exchange exchange, InputStream content, long size, Map<String, String> headers)
      throws IOException {
    boolean compress =
        exchange.header("Accept-Encoding").filter(text -> text.strip().equals("gzip")).isPresent();
    if (compress && size > 0) {
      headers.put("Content-Encoding", "gzip");
      try (content;
          OutputStream out = new GZIPOutputStream(exchange.begin(200, BYTES, headers), BUFFER)) {
        content.transferTo(out);
      }
      return;
    }
    if (size > BUFFER) {
      headers.put("Content-Length", Long.toString(size));
      FileResponse.send(exchange, 200, BYTES, content, headers);
      return;
    }
    // Files in procfs report a size of 0 although they have content, and other files may change
    // while they are read.
    byte[] start = content.readNBytes(BUFFER);
    if (start.length < BUFFER) {
      headers.put("Content-Length", Integer.toString(start.length));
    }
    try (content;
        OutputStream out = exchange.begin(200, BYTES, headers)) {
      out.write(start);
      content.transferTo(out);
    }
  }

  private static void write(
      Exchange exchange, BiFunction<Exchange, String, SandboxAccess.SandboxUser> userOf)
      throws IOException {
    try {
      exchange.json(200, new FileUpload(exchange, userOf.apply(exchange, WRITE)).receive());
    } catch (SandboxException e) {
      drain(exchange);
      throw e;
    }
  }

  /** Reads the rest of a body: a client that is still sending would not see the response. */
  private static void drain(Exchange exchange) throws IOException {
    exchange.content().readNBytes(MAX_DRAINED);
  }
}
