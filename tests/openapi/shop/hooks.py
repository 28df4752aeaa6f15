import clients
