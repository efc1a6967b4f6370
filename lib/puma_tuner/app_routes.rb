# frozen_string_literal: true

module PumaTuner
  # The GET routes of an app -> a file of requests, without anybody writing it.
  #
  # inside/* runs in a process of its own that has the app loaded: route_list lists its routes, database knows values
  # for their parameters, visits asks for each with GET. asking starts that process and reads what it tells, a Route
  # for each; request_writer writes them down.
  module AppRoutes
    autoload :Asking, "puma_tuner/app_routes/asking"
    autoload :RequestWriter, "puma_tuner/app_routes/request_writer"
    autoload :SignIn, "puma_tuner/app_routes/request_writer"

    # One GET route.
    #
    # template: "/articles/{{id}}"; names: of its parameters; rows: lists of values for these, each asked for and
    #   answered; [[]] of a route without parameters
    # status: of the last response, nil for none; location: path that it leads to, nil for nowhere
    # cause: why it is left out, a Symbol, nil when it is not; detail: of the cause
    Route = Data.define(:template, :names, :rows, :status, :location, :cause, :detail)

    # What the app's process has told.
    #
    # framework: "Rails 8.1.3"; environment: "development"; tls: whether it wants to be asked as over TLS
    # sign_in: SignIn where routes lead to one, else nil
    Answer = Data.define(:framework, :environment, :tls, :routes, :sign_in)
  end
end
