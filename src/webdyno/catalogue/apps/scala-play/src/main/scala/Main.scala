import scala.concurrent.Future
import scala.concurrent.duration._

import org.apache.pekko.pattern.after
import play.api.{BuiltInComponents, Mode, NoHttpFiltersComponents}
import play.api.libs.json.{JsObject, Json}
import play.api.mvc.{Action, AnyContent, Results}
import play.api.routing.Router
import play.api.routing.sird._
import play.core.server.{DefaultNettyServerComponents, ServerConfig}
import reactivemongo.api.{AsyncDriver, MongoConnection}
import reactivemongo.api.bson.BSONDocument
import reactivemongo.api.bson.collection.BSONCollection
import reactivemongo.play.json.compat._
import reactivemongo.play.json.compat.json2bson._
import reactivemongo.play.json.compat.lax._

/** `java Main HOST PORT POOL`: the answers of study S0 as a Play application, with ReactiveMongo where there is a MongoDB.
  *
  * The router is a value of the server's components and not made by a function, which Play would call for each request.
  */
object Main {
  def main(arguments: Array[String]): Unit = {
    val Array(host, port, pool) = arguments
    val _ = new Answers(host, port.toInt, pool.toInt).server
  }
}

class Answers(host: String, port: Int, pool: Int)
    extends DefaultNettyServerComponents
    with BuiltInComponents
    with NoHttpFiltersComponents
    with Results {

  override lazy val serverConfig: ServerConfig = ServerConfig(address = host, port = Some(port), mode = Mode.Prod)

  override lazy val router: Router = {
    val routes: Router.Routes = {
      case GET(p"/")          => Action(Ok("Hello, World!"))
      case GET(p"/json")      => Action(Ok(Json.obj("message" -> "Hello, World!")))
      case GET(p"/sleep")     => Action.async(after(1.second)(Future.successful(Ok("slept")))(actorSystem))
      case GET(p"/mongo")     => document(1)
      case GET(p"/mongo/big") => document(2)
    }
    Router.from(routes)
  }

  private lazy val documents: Future[BSONCollection] = {
    val driver = AsyncDriver()
    applicationLifecycle.addStopHook(() => driver.close())
    for {
      uri        <- MongoConnection.fromString(sys.env("MONGODB_URL"))
      nodes       = uri.hosts.map { case (name, port) => s"$name:$port" }.toSeq
      connection <- driver.connect(nodes, uri.options.copy(nbChannelsPerNode = pool))
      database   <- connection.database("webdyno")
    } yield database.collection[BSONCollection]("documents")
  }

  private def document(number: Int): Action[AnyContent] = Action.async {
    documents
      .flatMap(_.find(BSONDocument("_id" -> number)).requireOne[JsObject])
      .map(found => Ok(found))
  }
}
