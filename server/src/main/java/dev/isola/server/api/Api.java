package dev.isola.server.api;

import dev.isola.server.access.FileReadGuard;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The table of all routes of the server. */
public final class Api {
  private Api() {}

  /**
   * Returns all routes.
   *
   * @param standardProvider the provider of create requests that name none
   * @param version the version of Isola
   */
  public static Routes routes(
      ServerContext serving, ApiKeys keys, String standardProvider, String version) {
    return routes(serving, keys, standardProvider, version, List::of, ImageService.NONE, List.of());
  }

  /**
   * Returns all routes.
   *
   * @param standardProvider the provider of create requests that name none
   * @param version the version of Isola
   * @param machine checks the host, apart from providers
   * @param images the images that sandboxes can start from
   * @param extensions other APIs; their routes have the same guards as the native ones
   */
  public static Routes routes(
      ServerContext serving,
      ApiKeys keys,
      String standardProvider,
      String version,
      Supplier<List<SetupStep>> machine,
      ImageService images,
      List<ApiExtension> extensions) {
    PortCredentials others =
        extensions.stream()
            .map(ApiExtension::portCredentials)
            .reduce(PortCredentials.NONE, PortCredentials::and);
    ByteBudget budget = ByteBudget.ofThisProcess();
    AtomicReference<List<Route>> table = new AtomicReference<>(List.of());
    List<Route> all =
        Stream.of(
                new SystemRoutes(serving, table::get, version).routes(),
                new DocsRoutes().routes(),
                new SetupRoutes(serving, machine).routes(),
                new SandboxRoutes(serving, standardProvider).routes(),
                new ExecRoutes(serving, budget).routes(),
                new ExecutionRoutes(serving).routes(),
                new FileRoutes(serving).routes(),
                new BatchRoutes(serving, budget).routes(),
                new TreeRoutes(serving).routes(),
                new WatchRoutes(serving).routes(),
                new TokenRoutes(serving, keys).routes(),
                new PortRoutes(serving, keys, others).routes(),
                new SnapshotRoutes(serving).routes(),
                new VolumeRoutes(serving, standardProvider).routes(),
                new VolumeFileRoutes(serving).routes(),
                new TemplateRoutes(serving).routes(),
                new TemplateBuildRoutes(serving).routes(),
                new EventRoutes(serving).routes(),
                new ProviderRoutes(serving).routes(),
                new ImageRoutes(images).routes(),
                new KeyRoutes(keys).routes())
            .flatMap(List::stream)
            .toList();
    table.set(all);
    Stream<Route> more = extensions.stream().flatMap(one -> one.routes().stream());
    HostAccessGuard guard = new HostAccessGuard(serving);
    return new Routes(
        Stream.concat(all.stream(), more).map(guard::wrap).map(FileReadGuard::wrap).toList(),
        extensions);
  }
}
